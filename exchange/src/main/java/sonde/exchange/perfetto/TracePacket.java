package sonde.exchange.perfetto;

/** Field numbers of TracePacket (trace_packet.proto). */
final class TracePacket {
    static final int FTRACE_EVENTS = 1;
    static final int PROCESS_TREE = 2;
    static final int TRUSTED_UID = 3;
    static final int CLOCK_SNAPSHOT = 6;
    static final int SYS_STATS = 7;
    static final int TIMESTAMP = 8;
    static final int PROCESS_STATS = 9;
    static final int TRUSTED_PACKET_SEQUENCE_ID = 10;
    static final int TRACK_EVENT = 11;
    static final int INTERNED_DATA = 12;
    static final int SEQUENCE_FLAGS = 13;
    static final int TRACE_CONFIG = 33;
    static final int FTRACE_STATS = 34;
    static final int TRACE_STATS = 35;
    static final int SYNCHRONIZATION_MARKER = 36;
    static final int PROFILE_PACKET = 37;
    static final int ANDROID_LOG = 39;
    static final int INCREMENTAL_STATE_CLEARED = 41;
    static final int PREVIOUS_PACKET_DROPPED = 42;
    static final int PROCESS_DESCRIPTOR = 43;
    static final int THREAD_DESCRIPTOR = 44;
    static final int SYSTEM_INFO = 45;
    static final int COMPRESSED_PACKETS = 50;
    static final int STREAMING_PROFILE_PACKET = 54;
    static final int TIMESTAMP_CLOCK_ID = 58;
    static final int TRACE_PACKET_DEFAULTS = 59;
    static final int TRACK_DESCRIPTOR = 60;
    static final int MODULE_SYMBOLS = 61;
    static final int PERF_SAMPLE = 66;
    static final int SERVICE_EVENT = 69;
    static final int TRUSTED_PID = 79;
    static final int FIRST_PACKET_ON_SEQUENCE = 87;
    static final int TRACE_UUID = 89;
    static final int MACHINE_ID = 98;
    static final int ZSTD_COMPRESSED_PACKETS = 133;

    private TracePacket() {}

    /** Whether a field says nothing about events. */
    static boolean isBookkeeping(int field) {
        return switch (field) {
            case TRUSTED_UID,
                    TIMESTAMP,
                    TRUSTED_PACKET_SEQUENCE_ID,
                    INTERNED_DATA,
                    SEQUENCE_FLAGS,
                    TRACE_CONFIG,
                    FTRACE_STATS,
                    TRACE_STATS,
                    SYNCHRONIZATION_MARKER,
                    INCREMENTAL_STATE_CLEARED,
                    PREVIOUS_PACKET_DROPPED,
                    SYSTEM_INFO,
                    TIMESTAMP_CLOCK_ID,
                    TRACE_PACKET_DEFAULTS,
                    SERVICE_EVENT,
                    TRUSTED_PID,
                    FIRST_PACKET_ON_SEQUENCE,
                    TRACE_UUID,
                    MACHINE_ID ->
                    true;
            default -> false;
        };
    }
}
