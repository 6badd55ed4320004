package sonde.recording.ctf.schema;

import org.jspecify.annotations.Nullable;

/** What a field tells the reader itself (CTF2-SPEC-2.0, 5.6.1 and 5.8.1). */
public enum FieldRole {
    PACKET_MAGIC_NUMBER("packet-magic-number"),
    METADATA_STREAM_UUID("metadata-stream-uuid"),
    DATA_STREAM_CLASS_ID("data-stream-class-id"),
    DATA_STREAM_ID("data-stream-id"),
    PACKET_TOTAL_LENGTH("packet-total-length"),
    PACKET_CONTENT_LENGTH("packet-content-length"),
    /** In a packet context the time of its beginning, in an event header the event's. */
    DEFAULT_CLOCK_TIMESTAMP("default-clock-timestamp"),
    PACKET_END_TIMESTAMP("packet-end-default-clock-timestamp"),
    DISCARDED_EVENTS("discarded-event-record-counter-snapshot"),
    PACKET_SEQUENCE_NUMBER("packet-sequence-number"),
    EVENT_CLASS_ID("event-record-class-id");

    private final String label;

    FieldRole(String label) {
        this.label = label;
    }

    /** The role of that name; null when there is none. */
    public static @Nullable FieldRole named(String label) {
        for (FieldRole role : values()) {
            if (role.label.equals(label)) {
                return role;
            }
        }
        return null;
    }
}
