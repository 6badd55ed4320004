package sonde.recording.ctf.schema;

/** A root structure, in the order in which they lie in a packet. */
public enum RootScope {
    PACKET_HEADER("packet-header"),
    PACKET_CONTEXT("packet-context"),
    EVENT_HEADER("event-record-header"),
    EVENT_COMMON_CONTEXT("event-record-common-context"),
    EVENT_SPECIFIC_CONTEXT("event-record-specific-context"),
    EVENT_PAYLOAD("event-record-payload");

    private final String label;

    RootScope(String label) {
        this.label = label;
    }

    /** The name that CTF2-SPEC-2.0 gives it. */
    public String label() {
        return label;
    }
}
