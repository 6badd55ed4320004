package sonde.exchange.export;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import sonde.event.Clock;

/** What a trace's metadata says, in whichever language. */
final class CtfTrace {
    /** Bytes of the packet's header and context. */
    static final int HEAD_BYTES = 84;

    final UUID uuid;
    final Clock clock;
    final boolean wide;
    final Map<String, String> environment = new LinkedHashMap<>();
    final List<CtfType> types = new ArrayList<>();

    /**
     * A trace without event classes.
     *
     * @param wide whether their numbers need 32 bits
     */
    CtfTrace(UUID uuid, Clock clock, boolean wide) {
        this.uuid = uuid;
        this.clock = clock;
        this.wide = wide;
    }

    /** A member of a packet's header or context, or of the parts of events that all have. */
    record HeaderMember(String name, int bits, boolean signed, String role) {}

    /** Header of a packet behind magic and UUID. */
    static final List<HeaderMember> PACKET_HEADER =
            List.of(
                    new HeaderMember("stream_id", 32, false, "data-stream-class-id"),
                    new HeaderMember("stream_instance_id", 64, false, "data-stream-id"));

    static final List<HeaderMember> PACKET_CONTEXT =
            List.of(
                    new HeaderMember("packet_size", 64, false, "packet-total-length"),
                    new HeaderMember("content_size", 64, false, "packet-content-length"),
                    new HeaderMember("timestamp_begin", 64, false, "default-clock-timestamp"),
                    new HeaderMember(
                            "timestamp_end", 64, false, "packet-end-default-clock-timestamp"),
                    new HeaderMember(
                            "events_discarded",
                            64,
                            false,
                            "discarded-event-record-counter-snapshot"),
                    new HeaderMember("packet_seq_num", 64, false, "packet-sequence-number"),
                    new HeaderMember("cpu_id", 32, false, ""));

    /** Header of an event record. */
    List<HeaderMember> eventHeader() {
        return List.of(
                new HeaderMember("id", wide ? 32 : 16, false, "event-record-class-id"),
                new HeaderMember("timestamp", 64, false, "default-clock-timestamp"));
    }

    static final List<HeaderMember> COMMON_CONTEXT =
            List.of(new HeaderMember("tid", 32, true, ""), new HeaderMember("pid", 32, true, ""));

    /** The clock's name: LTTng's for CLOCK_MONOTONIC. */
    String clockName() {
        return clock == Clock.MONO ? "monotonic" : clock.kernelName().replace('-', '_');
    }
}
