package sonde.testkit;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A trace of TSDL that the tests share: LTTng's headers, one stream. */
public final class TsdlText {
    public static final String STREAM =
            """
            typealias integer { size = 27; align = 1; map = clock.mono.value; } := time27;
            struct header {
                enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
                variant <id> {
                    struct { time27 timestamp; } compact;
                    struct { uint32_t id; time64 timestamp; } extended;
                } v;
            } align(8);
            stream {
                id = 0;
                event.header := struct header;
                PACKET_CONTEXT
                event.context := struct {
                    int _vpid; int _vtid;
                    integer { size = 8; align = 8; encoding = UTF8; } _procname[17];
                };
            };
            """
                    .replace("PACKET_CONTEXT", CtfTrace.PACKET_CONTEXT);

    private TsdlText() {}

    /** Metadata with these events. */
    public static String with(String events) {
        return CtfTrace.TSDL + STREAM + events;
    }

    /** An event in braces of a payload. */
    public static String event(int id, String name, String fields) {
        return "event { name = \"%s\"; id = %d; stream_id = 0; fields := struct { %s }; };\n"
                .formatted(name, id, fields);
    }

    public static CtfTrace trace(ByteOrder order, String events) {
        return new CtfTrace(order).metadata(with(events));
    }

    /** Header and context of an event: 27 bits of its time, pid 7, tid 8. */
    public static CtfTrace.Packet head(CtfTrace.Packet packet, int id, long time) {
        packet.bits().align(8);
        packet.bits(id, 5).bits(time & 0x7ffffff, 27);
        packet.put(7, 32).put(8, 32);
        packet.bits().raw("worker\0\0\0\0\0\0\0\0\0\0\0".getBytes(StandardCharsets.US_ASCII));
        return packet;
    }
}
