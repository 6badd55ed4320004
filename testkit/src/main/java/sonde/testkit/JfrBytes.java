package sonde.testkit;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** A flight recording of one chunk: classes, constants, events, integers compressed. */
public final class JfrBytes {
    private static final int HEADER = 68;

    private final List<String> strings = new ArrayList<>();

    private JfrBytes() {}

    /**
     * Events {@code my.Sample} (time 1 ms and 2 ms after the start) with a duration, a text, a
     * thread of tid 77 and a stack of {@code a.B.run}.
     */
    public static byte[] example() {
        return new JfrBytes().chunk();
    }

    private static Bytes bytes() {
        return new Bytes(ByteOrder.BIG_ENDIAN);
    }

    private static Bytes leb(Bytes out, long value) {
        long rest = value;
        for (int i = 0; i < 8; i++) {
            if ((rest & ~0x7fL) == 0) {
                return out.u8((int) rest);
            }
            out.u8((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        return out.u8((int) rest);
    }

    private static Bytes text(Bytes out, String text) {
        return leb(out.u8(3), text.length()).ascii(text);
    }

    /** An event with its size before it, which counts itself: one or two bytes. */
    private static byte[] sized(Bytes body) {
        int size = body.size() + (body.size() + 1 < 128 ? 1 : 2);
        return leb(bytes(), size).raw(body.toBytes()).toBytes();
    }

    private byte[] chunk() {
        Bytes rest = bytes();
        for (int i = 1; i <= 2; i++) {
            Bytes event = leb(leb(leb(leb(bytes(), 100), 1_000 * i), 500), 1);
            rest.raw(sized(leb(text(event, "hello" + i), 1)));
        }
        long constants = (long) HEADER + rest.size();
        rest.raw(sized(constants()));
        long metadata = (long) HEADER + rest.size();
        rest.raw(sized(metadata()));
        Bytes out = bytes().ascii("FLR").u8(0).u16(2).u16(1);
        out.u64((long) HEADER + rest.size()).u64(constants).u64(metadata);
        out.u64(1_000_000_000).u64(10).u64(0).u64(1_000_000).u32(1);
        return out.raw(rest.toBytes()).toBytes();
    }

    private static Bytes constants() {
        Bytes out = leb(leb(leb(leb(bytes(), 1), 0), 0), 0).u8(1);
        leb(out, 5);
        // symbols: 1 run, 2 a/B
        leb(leb(leb(out, 14), 2), 1);
        leb(text(out, "run"), 2);
        text(out, "a/B");
        // class 1 named by symbol 2
        leb(leb(leb(leb(out, 13), 1), 1), 2);
        // method 1: class 1, symbol 1
        leb(leb(leb(leb(leb(out, 12), 1), 1), 1), 1);
        // stack trace 1: not truncated, one frame of method 1
        leb(leb(leb(out, 10), 1), 1).u8(0);
        leb(leb(out, 1), 1);
        // thread 1: its name, its tid
        leb(leb(leb(out, 15), 1), 1);
        return leb(text(out, "worker"), 77);
    }

    private int string(String text) {
        int at = strings.indexOf(text);
        if (at < 0) {
            strings.add(text);
            at = strings.size() - 1;
        }
        return at;
    }

    private Bytes element(String name, int children, String... attributes) {
        Bytes out = leb(leb(bytes(), string(name)), attributes.length / 2);
        for (String attribute : attributes) {
            leb(out, string(attribute));
        }
        return leb(out, children);
    }

    private byte[] field(String name, int type, boolean pooled, boolean array) {
        String number = Integer.toString(type);
        String pool = pooled ? "true" : "false";
        String dimension = array ? "1" : "0";
        return element(
                        "field",
                        0,
                        "name",
                        name,
                        "class",
                        number,
                        "constantPool",
                        pool,
                        "dimension",
                        dimension)
                .toBytes();
    }

    /** A field whose value counts ticks. */
    private byte[] ticks(String name, int annotation) {
        Bytes out = element("field", 1, "name", name, "class", "4");
        String number = Integer.toString(annotation);
        return out.raw(element("annotation", 0, "class", number, "value", "TICKS").toBytes())
                .toBytes();
    }

    private byte[] type(int id, String name, String parent, byte[]... fields) {
        String number = Integer.toString(id);
        Bytes out =
                element("class", fields.length, "id", number, "name", name, "superType", parent);
        for (byte[] field : fields) {
            out.raw(field);
        }
        return out.toBytes();
    }

    private Bytes metadata() {
        Bytes tree = element("root", 1).raw(element("metadata", 13).toBytes());
        tree.raw(type(3, "boolean", "")).raw(type(4, "long", "")).raw(type(5, "int", ""));
        tree.raw(type(6, "java.lang.String", ""));
        tree.raw(type(7, "jdk.jfr.Timestamp", "")).raw(type(8, "jdk.jfr.Timespan", ""));
        tree.raw(
                type(
                        10,
                        "jdk.types.StackTrace",
                        "",
                        field("truncated", 3, false, false),
                        field("frames", 11, false, true)));
        tree.raw(type(11, "jdk.types.StackFrame", "", field("method", 12, true, false)));
        tree.raw(
                type(
                        12,
                        "jdk.types.Method",
                        "",
                        field("type", 13, true, false),
                        field("name", 14, true, false)));
        tree.raw(type(13, "java.lang.Class", "", field("name", 14, true, false)));
        tree.raw(type(14, "jdk.types.Symbol", "", field("string", 6, false, false)));
        tree.raw(
                type(
                        15,
                        "java.lang.Thread",
                        "",
                        field("javaName", 6, false, false),
                        field("osThreadId", 4, false, false)));
        Bytes event =
                element("class", 5, "id", "100", "name", "my.Sample", "superType", "jdk.jfr.Event");
        event.raw(ticks("startTime", 7)).raw(ticks("duration", 8));
        event.raw(field("eventThread", 15, true, false)).raw(field("what", 6, false, false));
        event.raw(field("stackTrace", 10, true, false));
        tree.raw(event.toBytes());
        Bytes out = leb(leb(leb(leb(bytes(), 0), 0), 0), 1);
        leb(out, strings.size());
        for (String string : strings) {
            text(out, string);
        }
        return out.raw(tree.toBytes());
    }
}
