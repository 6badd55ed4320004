package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** Values as text and as JSON. */
final class ValueTextTest {
    private static final Type.Int CHAR = new Type.Int(1, true, true);

    private static String text(Type type, byte[] bytes) {
        return ValueText.text(type, bytes, 0, new MachineNames());
    }

    private static String json(Type type, byte[] bytes) {
        return JsonText.text(type, bytes, 0, new MachineNames());
    }

    private static Struct struct(String name, int sizeBytes, Field... fields) {
        return new Struct(name, false, sizeBytes, 8, () -> List.of(fields));
    }

    @Test
    void integers() {
        byte[] ones = Little.i64s(-1);
        assertThat(text(Type.Int.I64, ones)).isEqualTo("-1");
        assertThat(text(Type.Int.U64, ones)).isEqualTo("18446744073709551615");
        assertThat(text(Type.Int.U32, ones)).isEqualTo("4294967295");
        assertThat(text(Type.Int.U16, ones)).isEqualTo("65535");
        assertThat(text(Type.Int.I8, ones)).isEqualTo("-1");
        assertThat(text(Type.Int.U64, Little.i64s(Long.parseUnsignedLong("10223372036854775807"))))
                .isEqualTo("10223372036854775807");
        assertThat(text(Type.Int.I64, Little.i64s(Long.MIN_VALUE)))
                .isEqualTo("-9223372036854775808");
        assertThat(text(new Type.Int(16, false), Little.i64s(0, 1)))
                .isEqualTo("18446744073709551616");
        assertThat(text(new Type.Int(16, true), Little.i64s(-2, -1))).isEqualTo("-2");
    }

    @Test
    void integersThatDoublesCannotHoldAreStringsInJson() {
        assertThat(json(Type.Int.I64, Little.i64s(1L << 53))).isEqualTo("9007199254740992");
        assertThat(json(Type.Int.I64, Little.i64s((1L << 53) + 1)))
                .isEqualTo("\"9007199254740993\"");
        assertThat(json(Type.Int.I64, Little.i64s(-(1L << 53) - 1)))
                .isEqualTo("\"-9007199254740993\"");
        assertThat(json(Type.Int.I64, Little.i64s(Long.MIN_VALUE)))
                .isEqualTo("-9223372036854775808");
        assertThat(json(Type.Int.U64, Little.i64s(-1))).isEqualTo("\"18446744073709551615\"");
        assertThat(json(Type.Int.U64, Little.i64s(0))).isEqualTo("0");
    }

    @Test
    void truthAndPointers() {
        assertThat(text(new Type.Bool(), new byte[] {2})).isEqualTo("true");
        assertThat(json(new Type.Bool(), new byte[] {0})).isEqualTo("false");
        Type pointer = new Type.Pointer(Type.Int.I32, Type.Space.KERNEL);
        assertThat(text(pointer, Little.i64s(0x32))).isEqualTo("0x32");
        assertThat(text(pointer, Little.i64s(-16))).isEqualTo("0xfffffffffffffff0");
        assertThat(json(pointer, Little.i64s(50))).isEqualTo("50");
    }

    @Test
    void texts() {
        assertThat(text(new Type.Text(8), Little.bytes().text("abc", 8).get())).isEqualTo("abc");
        assertThat(text(new Type.Text(4), Little.bytes().text("abcd", 4).get()))
                .isEqualTo("abcd..");
        assertThat(text(new Type.Text(0), new byte[0])).isEmpty();
        String hostile = "a\033[2J\n\tb\u009bc\u007f\u00e9";
        byte[] bytes = Little.bytes().text(hostile, 32).get();
        assertThat(text(new Type.Text(32), bytes))
                .isEqualTo("a\\x1b[2J\n\tb\\xc2\\x9bc\\x7f\u00e9");
        assertThat(json(new Type.Text(32), bytes))
                .isEqualTo("\"a\\u001b[2J\\n\\tb\u009bc\u007f\u00e9\"");
        byte[] broken = {'a', (byte) 0xff, (byte) 0xc3, '"', (byte) 0xed, (byte) 0xa0, 1, 0};
        assertThat(json(new Type.Text(8), broken))
                .isEqualTo("\"a\\\\xff\\\\xc3\\\"\\\\xed\\\\xa0\\u0001\"");
    }

    @Test
    void buffers() {
        byte[] bytes = Little.bytes().i32(4).i8('o', 'k', 0, -1, 'x', 'x').get();
        assertThat(text(new Type.Bytes(6), bytes)).isEqualTo("ok\\x00\\xff");
        assertThat(json(new Type.Bytes(6), bytes)).isEqualTo("[111,107,0,-1]");
        byte[] lying = Little.bytes().i32(1_000).i8('o', 'k').get();
        assertThat(text(new Type.Bytes(6), lying)).isEqualTo("ok");
    }

    @Test
    void arrays() {
        Type.Array rows = new Type.Array(new Type.Array(Type.Int.I32, 2), 2);
        byte[] bytes = Little.bytes().i32(5, 6, 7, 8).get();
        assertThat(text(rows, bytes)).isEqualTo("[[5,6],[7,8]]");
        assertThat(json(rows, bytes)).isEqualTo("[[5,6],[7,8]]");
        assertThat(text(new Type.Array(Type.Int.I8, 6), Little.bytes().text("hello", 6).get()))
                .isEqualTo("[104,101,108,108,111,0]");
        assertThat(text(new Type.Array(CHAR, 6), Little.bytes().text("hello", 6).get()))
                .isEqualTo("hello");
        assertThat(text(new Type.Array(Type.Int.I32, 0), bytes)).isEqualTo("[]");
        assertThat(text(new Type.Array(new Type.Bool(), 2), new byte[] {1, 0}))
                .isEqualTo("[true,false]");
    }

    @Test
    void enumerations() {
        Type.Enum state = new Type.Enum("state", 4, true, Map.of(1L, "RUN", -1L, "DEAD"));
        assertThat(text(state, Little.bytes().i32(1).get())).isEqualTo("RUN");
        assertThat(text(state, Little.bytes().i32(-1).get())).isEqualTo("DEAD");
        assertThat(text(state, Little.bytes().i32(100).get())).isEqualTo("100");
        assertThat(json(state, Little.bytes().i32(1).get())).isEqualTo("1");
    }

    @Test
    void tuplesAndRecords() {
        Tuple inner = Tuple.of(List.of(Type.Int.I32, Type.Int.I32));
        Tuple tuple = Tuple.of(List.of(Type.Int.I64, new Type.Text(8), inner));
        byte[] bytes = Little.bytes().i64(1).text("str", 8).i32(4, 5).get();
        assertThat(text(tuple, bytes)).isEqualTo("(1, str, (4, 5))");
        assertThat(json(tuple, bytes)).isEqualTo("[1,\"str\",[4,5]]");
        assertThat(text(Tuple.of(List.of(Type.Int.I8)), new byte[] {7})).isEqualTo("(7)");
        Tuple record = Tuple.ofRecord(List.of("a", "b"), List.of(Type.Int.I32, inner));
        byte[] values = Little.bytes().i32(0, 5, 6).get();
        assertThat(text(record, values)).isEqualTo("{ .a = 0, .b = (5, 6) }");
        assertThat(json(record, values)).isEqualTo("{\"a\": 0, \"b\": [5,6]}");
        assertThat(text(Tuple.ofRecord(List.of(), List.of()), values)).isEqualTo("{}");
    }

    @Test
    void structures() {
        Struct union =
                new Struct(
                        "n",
                        true,
                        4,
                        4,
                        () ->
                                List.of(
                                        new Field("i", Type.Int.I32, 0),
                                        new Field("f", new Type.Float(4), 0)));
        Struct outer = struct("s", 8, new Field("m", Type.Int.I32, 0), new Field("n", union, 4));
        byte[] bytes = Little.bytes().i32(2, 5).get();
        assertThat(text(outer, bytes)).isEqualTo("{ .m = 2, .n = { .i = 5, .f = null } }");
        assertThat(json(outer, bytes)).isEqualTo("{\"m\": 2, \"n\": {\"i\": 5, \"f\": null}}");
        Struct hidden = struct("s", 8, new Field("m", Type.Int.I32, 0), new Field("", union, 4));
        assertThat(text(hidden, bytes)).isEqualTo("{ .m = 2, .i = 5, .f = null }");
        assertThat(json(hidden, bytes)).isEqualTo("{\"m\": 2, \"i\": 5, \"f\": null}");
        assertThat(text(struct("e", 0), bytes)).isEqualTo("{}");
        assertThat(json(struct("e", 0), bytes)).isEqualTo("{}");
    }

    @Test
    void bitfieldsAndPlacesElsewhere() {
        Field.Place here = Field.Place.HERE;
        Struct bits =
                struct(
                        "b",
                        16,
                        new Field("a", Type.Int.U32, 0, 3, here),
                        new Field("b", Type.Int.I32, 3, 5, here),
                        new Field("c", new Type.Bool(), 8, 1, here),
                        new Field("d", Type.Int.U64, 60, 9, here),
                        new Field("e", new Type.Text(8), 64 + 16, 0, Field.Place.DATA_LOC));
        byte[] bytes = Little.bytes().i8(0xfd, 1).zeros(5).i8(0xf0, 0x1f, 0).i32(0x50010).get();
        assertThat(text(bits, bytes))
                .isEqualTo("{ .a = 5, .b = -1, .c = true, .d = 511, .e = 327696 }");
        assertThat(json(bits, bytes))
                .isEqualTo("{\"a\": 5, \"b\": -1, \"c\": true, \"d\": 511, \"e\": 327696}");
    }

    @Test
    void words() {
        assertThat(text(new Type.Named(Type.Special.KERNEL_SYMBOL), Little.i64s(7)))
                .isEqualTo("k7");
        byte[] user = Little.bytes().i64(9).i32(12, 0).get();
        assertThat(text(new Type.Named(Type.Special.USER_SYMBOL), user)).isEqualTo("u9@12");
        assertThat(text(new Type.Named(Type.Special.CGROUP_PATH), Little.i64s(1, 2)))
                .isEqualTo("unified:/1/2");
        assertThat(text(new Type.Named(Type.Special.USERNAME), Little.i64s(0))).isEqualTo("root");
        assertThat(text(new Type.Named(Type.Special.USERNAME), Little.i64s(1)))
                .isEqualTo("\\x1b[2J");
        byte[] time = Little.bytes().i32(1, 2).i64(3).get();
        assertThat(json(new Type.Named(Type.Special.TIMESTAMP), time)).isEqualTo("\"t1,2,3\"");
        assertThat(json(new Type.Named(Type.Special.STRERROR), Little.i64s(7)))
                .isEqualTo("\"Argument list too long\"");
        assertThat(text(new Type.Named(Type.Special.STRERROR), Little.i64s(4000)))
                .isEqualTo("Unknown error 4000");
        assertThat(text(new Type.Named(Type.Special.STRERROR), Little.i64s(0)))
                .isEqualTo("Success");
    }

    @Test
    void addresses() {
        Type inet = new Type.Named(Type.Special.INET);
        assertThat(text(inet, Little.bytes().i32(2).i8(127, 0, 0, 1).zeros(12).get()))
                .isEqualTo("127.0.0.1");
        assertThat(text(inet, six(0, 0, 0, 0, 0, 0, 0, 1))).isEqualTo("::1");
        assertThat(text(inet, six(0, 0, 0, 0, 0, 0, 0, 0))).isEqualTo("::");
        assertThat(text(inet, six(0xfe80, 0, 0, 0, 1, 0, 0, 2))).isEqualTo("fe80::1:0:0:2");
        assertThat(text(inet, six(1, 0, 0, 0, 0, 0, 0, 0))).isEqualTo("1::");
        assertThat(text(inet, six(1, 0, 3, 4, 5, 6, 7, 8))).isEqualTo("1:0:3:4:5:6:7:8");
        assertThat(text(inet, six(0, 0, 0, 0, 0, 0xffff, 0x0102, 0x0304)))
                .isEqualTo("::ffff:1.2.3.4");
        assertThat(text(inet, six(0, 0, 0, 0, 0, 0, 0x0102, 0x0304))).isEqualTo("::1.2.3.4");
        assertThat(text(inet, new byte[20])).isEmpty();
        assertThat(
                        text(
                                new Type.Named(Type.Special.MAC_ADDRESS),
                                Little.bytes().i8(5, 4, 3, 2, 0xab, 0xff).get()))
                .isEqualTo("05:04:03:02:AB:FF");
    }

    private static byte[] six(int... words) {
        Little bytes = Little.bytes().i32(10);
        for (int word : words) {
            bytes.i8(word >> 8, word);
        }
        return bytes.get();
    }

    @Test
    void stacks() {
        byte[] addresses = Little.i64s(31, 30, 0, 29);
        Type.Stack kernel = new Type.Stack(false, Type.StackMode.BPFTRACE, 4);
        assertThat(text(kernel, addresses)).isEqualTo("\n        f31+1\n        f30+1\n");
        assertThat(json(kernel, addresses)).isEqualTo("\"\\n        f31+1\\n        f30+1\\n\"");
        assertThat(text(new Type.Stack(false, Type.StackMode.PERF, 4), addresses))
                .isEqualTo("\n\t1f f31+1\n\t1e f30+1\n");
        assertThat(text(new Type.Stack(false, Type.StackMode.RAW, 4), addresses))
                .isEqualTo("\n1f\n1e\n");
        assertThat(text(new Type.Stack(false, Type.StackMode.RAW, 4), new byte[0])).isEqualTo("\n");
        byte[] user = Little.bytes().i32(77, 0).i64(5, -1, 6).get();
        assertThat(text(new Type.Stack(true, Type.StackMode.BPFTRACE, 3), user))
                .isEqualTo("\n        f5+1@77\n        <unwind failure>\n");
    }

    @Test
    void stacksOfBuildIds() {
        Little bytes = Little.bytes().i32(77, 0).i32(1);
        for (int i = 0; i < 20; i++) {
            bytes.i8(i);
        }
        byte[] stack = bytes.i64(5).i32(2).zeros(20).i64(0x1234).zeros(32).get();
        assertThat(text(new Type.Stack(true, Type.StackMode.BUILD_ID, 3), stack))
                .isEqualTo("\n000102030405060708090a0b0c0d0e0f10111213 0x05\n1234\n");
    }

    @Test
    void aggregates() {
        assertThat(text(new Type.Count(), Little.i64s(3))).isEqualTo("3");
        assertThat(text(new Type.Sum(true), Little.i64s(-6))).isEqualTo("-6");
        assertThat(text(new Type.Extreme(true, true), Little.i64s(-1, 1))).isEqualTo("-1");
        assertThat(text(new Type.Average(false, true), Little.i64s(-7, 2))).isEqualTo("-3");
        assertThat(text(new Type.Average(false, true), Little.i64s(0, 0))).isEqualTo("0");
        Type stats = new Type.Average(true, true);
        assertThat(text(stats, Little.i64s(6, 3)))
                .isEqualTo("{ .count = 3, .average = 2, .total = 6 }");
        assertThat(json(stats, Little.i64s(12, 2)))
                .isEqualTo("{\"count\": 2, \"average\": 6, \"total\": 12}");
    }
}
