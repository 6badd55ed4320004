package sonde.testkit;

import java.io.ByteArrayOutputStream;
import java.util.zip.Deflater;

/** Perfetto traces, packet by packet; field numbers as in protos/perfetto/trace. */
public final class PerfettoBytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    /** A message. */
    public static ProtoBytes message() {
        return new ProtoBytes();
    }

    /** Appends a TracePacket. */
    public PerfettoBytes packet(ProtoBytes packet) {
        out.writeBytes(new ProtoBytes().message(1, packet).toBytes());
        return this;
    }

    /** Appends the packets so far of another trace, deflated, as one packet. */
    public PerfettoBytes compressed(PerfettoBytes packets) {
        Deflater deflater = new Deflater();
        deflater.setInput(packets.toBytes());
        deflater.finish();
        byte[] room = new byte[packets.toBytes().length + 64];
        int size = deflater.deflate(room);
        deflater.end();
        return packet(message().bytes(50, java.util.Arrays.copyOf(room, size)));
    }

    /** The clocks at one moment: BOOTTIME and MONOTONIC. */
    public static ProtoBytes clocks(long boot, long monotonic) {
        ProtoBytes snapshot = message();
        snapshot.message(1, message().number(1, 6).number(2, boot));
        snapshot.message(1, message().number(1, 3).number(2, monotonic));
        return message().message(6, snapshot);
    }

    /** A file. */
    public byte[] toBytes() {
        return out.toByteArray();
    }

    /** A trace with something of everything. */
    public static byte[] example() {
        PerfettoBytes trace = new PerfettoBytes();
        trace.packet(clocks(1_000_000, 400_000).number(10, 1));
        ProtoBytes tree = message();
        tree.message(1, message().number(1, 100).number(2, 1).text(3, "/bin/app"));
        tree.message(2, message().number(1, 101).number(3, 100).text(2, "worker"));
        trace.packet(message().number(8, 1_000_100).number(10, 1).message(2, tree));
        trace.packet(message().number(10, 1).message(1, bundle()));
        trace.packet(message().number(10, 1).message(1, compact()));
        trace.compressed(new PerfettoBytes().packet(track()).packet(begin()).packet(end()));
        trace.packet(counterTrack()).packet(counter());
        trace.packet(sample());
        return trace.toBytes();
    }

    /** CPU 2: a switch, an event that only names itself, an unknown one. */
    private static ProtoBytes bundle() {
        ProtoBytes switched = message().text(1, "swapper/2").number(2, 0).number(3, 120);
        switched.number(4, 0).text(5, "worker").number(6, 101).number(7, 110);
        ProtoBytes generic = message().text(1, "my:event");
        generic.message(2, message().text(1, "what").text(3, "text"));
        generic.message(2, message().text(1, "much").number(4, -5));
        ProtoBytes bundle = message().number(1, 2);
        bundle.message(2, message().number(1, 1_000_200).number(2, 0).message(4, switched));
        bundle.message(2, message().number(1, 1_000_300).number(2, 101).message(327, generic));
        bundle.message(2, message().number(1, 1_000_301).number(2, 101).message(9999, message()));
        return bundle;
    }

    /** CPU 3: compact_sched with two switches and a wake-up between them. */
    private static ProtoBytes compact() {
        ProtoBytes compact = message().text(5, "one").text(5, "two");
        compact.packed(1, 1_000_400, 200).packed(2, 1, 256).packed(3, 7, 8).packed(4, 120, 121);
        compact.packed(6, 0, 1);
        compact.packed(7, 1_000_500).packed(8, 8).packed(9, 3).packed(10, 121).packed(11, 1);
        return message().number(1, 3).number(3, 1).message(4, compact);
    }

    private static ProtoBytes track() {
        ProtoBytes thread = message().number(1, 100).number(2, 101).text(5, "worker");
        return message().number(10, 5).message(60, message().number(1, 77).message(4, thread));
    }

    /** Interned names; its time is of MONOTONIC. */
    private static ProtoBytes begin() {
        ProtoBytes interned = message().message(1, message().number(1, 1).text(2, "cat"));
        interned.message(2, message().number(1, 9).text(2, "work"));
        interned.message(3, message().number(1, 4).text(2, "n"));
        ProtoBytes event = message().number(9, 1).number(11, 77).number(10, 9).number(3, 1);
        event.message(4, message().number(1, 4).number(4, -3));
        event.message(4, message().text(10, "q\"").message(12, message().number(2, 1)));
        return message()
                .number(8, 400_700)
                .number(58, 3)
                .number(10, 5)
                .number(13, 1)
                .message(12, interned)
                .message(11, event);
    }

    private static ProtoBytes end() {
        return message()
                .number(8, 400_800)
                .number(58, 3)
                .number(10, 5)
                .message(11, message().number(9, 2).number(11, 77));
    }

    private static ProtoBytes counterTrack() {
        ProtoBytes track = message().number(1, 78).text(2, "heap");
        return message()
                .number(10, 5)
                .message(60, track.message(8, message().number(3, 3).number(4, 1024)));
    }

    private static ProtoBytes counter() {
        ProtoBytes event = message().number(9, 4).number(11, 78).number(30, 3);
        return message().number(8, 1_000_900).number(10, 5).message(11, event);
    }

    /** A sample of 100 Hz with two frames, one of them symbolised. */
    private static ProtoBytes sample() {
        ProtoBytes interned = message().message(5, message().number(1, 1).text(2, "leaf"));
        interned.message(17, message().number(1, 2).text(2, "lib.so"));
        interned.message(19, message().number(1, 3).number(7, 2));
        interned.message(6, message().number(1, 10).number(2, 1).number(3, 3).number(4, 16));
        interned.message(6, message().number(1, 11).number(3, 3).number(4, 32));
        interned.message(7, message().number(1, 20).number(2, 11).number(2, 10));
        ProtoBytes timebase = message().number(2, 100).number(4, 1);
        ProtoBytes defaults = message().message(12, message().message(1, timebase));
        ProtoBytes sample = message().number(1, 1).number(2, 100).number(3, 101).number(4, 20);
        return message()
                .number(8, 1_001_000)
                .number(10, 6)
                .message(12, interned)
                .message(59, defaults)
                .message(66, sample);
    }
}
