package sonde.recording.ctf;

/** Bytes of a packet that cannot be. Costs no stack trace: hostile files throw it often. */
final class Overrun extends Exception {
    private static final long serialVersionUID = 1;

    Overrun(String message) {
        super(message, null, false, false);
    }
}
