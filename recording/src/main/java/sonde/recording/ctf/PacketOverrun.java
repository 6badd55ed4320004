package sonde.recording.ctf;

/** Bytes of a packet that cannot be. Costs no stack trace: hostile files throw it often. */
final class PacketOverrun extends Exception {
    private static final long serialVersionUID = 1;

    PacketOverrun(String message) {
        super(message, null, false, false);
    }
}
