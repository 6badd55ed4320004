package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.FloatType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.SumType;
import sonde.lang.type.ValueType.TextType;

/** Values as text and as JSON. */
final class ValueTextTest {
    private static final IntType CHAR = new IntType(1, true, true);

    private static String text(ValueType type, byte[] bytes) {
        return ValueText.text(type, bytes, 0, new MachineNames());
    }

    private static String json(ValueType type, byte[] bytes) {
        return JsonValueText.text(type, bytes, 0, new MachineNames());
    }

    private static StructType struct(String name, int sizeBytes, TypeField... fields) {
        return new StructType(name, false, sizeBytes, 8, () -> List.of(fields));
    }

    @Test
    void integers() {
        byte[] ones = Little.i64s(-1);
        assertThat(text(IntType.I64, ones)).isEqualTo("-1");
        assertThat(text(IntType.U64, ones)).isEqualTo("18446744073709551615");
        assertThat(text(IntType.U32, ones)).isEqualTo("4294967295");
        assertThat(text(IntType.U16, ones)).isEqualTo("65535");
        assertThat(text(IntType.I8, ones)).isEqualTo("-1");
        assertThat(text(IntType.U64, Little.i64s(Long.parseUnsignedLong("10223372036854775807"))))
                .isEqualTo("10223372036854775807");
        assertThat(text(IntType.I64, Little.i64s(Long.MIN_VALUE)))
                .isEqualTo("-9223372036854775808");
        assertThat(text(new IntType(16, false), Little.i64s(0, 1)))
                .isEqualTo("18446744073709551616");
        assertThat(text(new IntType(16, true), Little.i64s(-2, -1))).isEqualTo("-2");
    }

    @Test
    void integersThatDoublesCannotHoldAreStringsInJson() {
        assertThat(json(IntType.I64, Little.i64s(1L << 53))).isEqualTo("9007199254740992");
        assertThat(json(IntType.I64, Little.i64s((1L << 53) + 1)))
                .isEqualTo("\"9007199254740993\"");
        assertThat(json(IntType.I64, Little.i64s(-(1L << 53) - 1)))
                .isEqualTo("\"-9007199254740993\"");
        assertThat(json(IntType.I64, Little.i64s(Long.MIN_VALUE)))
                .isEqualTo("-9223372036854775808");
        assertThat(json(IntType.U64, Little.i64s(-1))).isEqualTo("\"18446744073709551615\"");
        assertThat(json(IntType.U64, Little.i64s(0))).isEqualTo("0");
    }

    @Test
    void truthAndPointers() {
        assertThat(text(new BoolType(), new byte[] {2})).isEqualTo("true");
        assertThat(json(new BoolType(), new byte[] {0})).isEqualTo("false");
        ValueType pointer = new PointerType(IntType.I32, PointerSpace.KERNEL);
        assertThat(text(pointer, Little.i64s(0x32))).isEqualTo("0x32");
        assertThat(text(pointer, Little.i64s(-16))).isEqualTo("0xfffffffffffffff0");
        assertThat(json(pointer, Little.i64s(50))).isEqualTo("50");
    }

    @Test
    void texts() {
        assertThat(text(new TextType(8), Little.bytes().text("abc", 8).get())).isEqualTo("abc");
        assertThat(text(new TextType(4), Little.bytes().text("abcd", 4).get())).isEqualTo("abcd..");
        assertThat(text(new TextType(0), new byte[0])).isEmpty();
        String hostile = "a\033[2J\n\tb\u009bc\u007f\u00e9";
        byte[] bytes = Little.bytes().text(hostile, 32).get();
        assertThat(text(new TextType(32), bytes)).isEqualTo("a\\x1b[2J\n\tb\\xc2\\x9bc\\x7f\u00e9");
        assertThat(json(new TextType(32), bytes))
                .isEqualTo("\"a\\u001b[2J\\n\\tb\u009bc\u007f\u00e9\"");
        byte[] broken = {'a', (byte) 0xff, (byte) 0xc3, '"', (byte) 0xed, (byte) 0xa0, 1, 0};
        assertThat(json(new TextType(8), broken))
                .isEqualTo("\"a\\\\xff\\\\xc3\\\"\\\\xed\\\\xa0\\u0001\"");
    }

    @Test
    void buffers() {
        byte[] bytes = Little.bytes().i32(4).i8('o', 'k', 0, -1, 'x', 'x').get();
        assertThat(text(new BytesType(6), bytes)).isEqualTo("ok\\x00\\xff");
        assertThat(json(new BytesType(6), bytes)).isEqualTo("[111,107,0,-1]");
        byte[] lying = Little.bytes().i32(1_000).i8('o', 'k').get();
        assertThat(text(new BytesType(6), lying)).isEqualTo("ok");
    }

    @Test
    void arrays() {
        ArrayType rows = new ArrayType(new ArrayType(IntType.I32, 2), 2);
        byte[] bytes = Little.bytes().i32(5, 6, 7, 8).get();
        assertThat(text(rows, bytes)).isEqualTo("[[5,6],[7,8]]");
        assertThat(json(rows, bytes)).isEqualTo("[[5,6],[7,8]]");
        assertThat(text(new ArrayType(IntType.I8, 6), Little.bytes().text("hello", 6).get()))
                .isEqualTo("[104,101,108,108,111,0]");
        assertThat(text(new ArrayType(CHAR, 6), Little.bytes().text("hello", 6).get()))
                .isEqualTo("hello");
        assertThat(text(new ArrayType(IntType.I32, 0), bytes)).isEqualTo("[]");
        assertThat(text(new ArrayType(new BoolType(), 2), new byte[] {1, 0}))
                .isEqualTo("[true,false]");
    }

    @Test
    void enumerations() {
        EnumType state = new EnumType("state", 4, true, Map.of(1L, "RUN", -1L, "DEAD"));
        assertThat(text(state, Little.bytes().i32(1).get())).isEqualTo("RUN");
        assertThat(text(state, Little.bytes().i32(-1).get())).isEqualTo("DEAD");
        assertThat(text(state, Little.bytes().i32(100).get())).isEqualTo("100");
        assertThat(json(state, Little.bytes().i32(1).get())).isEqualTo("1");
    }

    @Test
    void tuplesAndRecords() {
        TupleType inner = TupleType.of(List.of(IntType.I32, IntType.I32));
        TupleType tuple = TupleType.of(List.of(IntType.I64, new TextType(8), inner));
        byte[] bytes = Little.bytes().i64(1).text("str", 8).i32(4, 5).get();
        assertThat(text(tuple, bytes)).isEqualTo("(1, str, (4, 5))");
        assertThat(json(tuple, bytes)).isEqualTo("[1,\"str\",[4,5]]");
        assertThat(text(TupleType.of(List.of(IntType.I8)), new byte[] {7})).isEqualTo("(7)");
        TupleType record = TupleType.ofRecord(List.of("a", "b"), List.of(IntType.I32, inner));
        byte[] values = Little.bytes().i32(0, 5, 6).get();
        assertThat(text(record, values)).isEqualTo("{ .a = 0, .b = (5, 6) }");
        assertThat(json(record, values)).isEqualTo("{\"a\": 0, \"b\": [5,6]}");
        assertThat(text(TupleType.ofRecord(List.of(), List.of()), values)).isEqualTo("{}");
    }

    @Test
    void structures() {
        StructType union =
                new StructType(
                        "n",
                        true,
                        4,
                        4,
                        () ->
                                List.of(
                                        new TypeField("i", IntType.I32, 0),
                                        new TypeField("f", new FloatType(4), 0)));
        StructType outer =
                struct("s", 8, new TypeField("m", IntType.I32, 0), new TypeField("n", union, 4));
        byte[] bytes = Little.bytes().i32(2, 5).get();
        assertThat(text(outer, bytes)).isEqualTo("{ .m = 2, .n = { .i = 5, .f = null } }");
        assertThat(json(outer, bytes)).isEqualTo("{\"m\": 2, \"n\": {\"i\": 5, \"f\": null}}");
        StructType hidden =
                struct("s", 8, new TypeField("m", IntType.I32, 0), new TypeField("", union, 4));
        assertThat(text(hidden, bytes)).isEqualTo("{ .m = 2, .i = 5, .f = null }");
        assertThat(json(hidden, bytes)).isEqualTo("{\"m\": 2, \"i\": 5, \"f\": null}");
        assertThat(text(struct("e", 0), bytes)).isEqualTo("{}");
        assertThat(json(struct("e", 0), bytes)).isEqualTo("{}");
    }

    @Test
    void bitfieldsAndPlacesElsewhere() {
        FieldPlace here = FieldPlace.HERE;
        StructType bits =
                struct(
                        "b",
                        16,
                        new TypeField("a", IntType.U32, 0, 3, here),
                        new TypeField("b", IntType.I32, 3, 5, here),
                        new TypeField("c", new BoolType(), 8, 1, here),
                        new TypeField("d", IntType.U64, 60, 9, here),
                        new TypeField("e", new TextType(8), 64 + 16, 0, FieldPlace.DATA_LOC));
        byte[] bytes = Little.bytes().i8(0xfd, 1).zeros(5).i8(0xf0, 0x1f, 0).i32(0x50010).get();
        assertThat(text(bits, bytes))
                .isEqualTo("{ .a = 5, .b = -1, .c = true, .d = 511, .e = 327696 }");
        assertThat(json(bits, bytes))
                .isEqualTo("{\"a\": 5, \"b\": -1, \"c\": true, \"d\": 511, \"e\": 327696}");
    }

    @Test
    void words() {
        assertThat(text(new SpecialType(SpecialValue.KERNEL_SYMBOL), Little.i64s(7)))
                .isEqualTo("k7");
        byte[] user = Little.bytes().i64(9).i32(12, 0).get();
        assertThat(text(new SpecialType(SpecialValue.USER_SYMBOL), user)).isEqualTo("u9@12");
        assertThat(text(new SpecialType(SpecialValue.CGROUP_PATH), Little.i64s(1, 2)))
                .isEqualTo("unified:/1/2");
        assertThat(text(new SpecialType(SpecialValue.USERNAME), Little.i64s(0))).isEqualTo("root");
        assertThat(text(new SpecialType(SpecialValue.USERNAME), Little.i64s(1)))
                .isEqualTo("\\x1b[2J");
        byte[] time = Little.bytes().i32(1, 2).i64(3).get();
        assertThat(json(new SpecialType(SpecialValue.TIMESTAMP), time)).isEqualTo("\"t1,2,3\"");
        assertThat(json(new SpecialType(SpecialValue.STRERROR), Little.i64s(7)))
                .isEqualTo("\"Argument list too long\"");
        assertThat(text(new SpecialType(SpecialValue.STRERROR), Little.i64s(4000)))
                .isEqualTo("Unknown error 4000");
        assertThat(text(new SpecialType(SpecialValue.STRERROR), Little.i64s(0)))
                .isEqualTo("Success");
    }

    @Test
    void addresses() {
        ValueType inet = new SpecialType(SpecialValue.INET);
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
                                new SpecialType(SpecialValue.MAC_ADDRESS),
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
        StackType kernel = new StackType(false, ValueType.StackMode.BPFTRACE, 4);
        assertThat(text(kernel, addresses)).isEqualTo("\n        f31+1\n        f30+1\n");
        assertThat(json(kernel, addresses)).isEqualTo("\"\\n        f31+1\\n        f30+1\\n\"");
        assertThat(text(new StackType(false, ValueType.StackMode.PERF, 4), addresses))
                .isEqualTo("\n\t1f f31+1\n\t1e f30+1\n");
        assertThat(text(new StackType(false, ValueType.StackMode.RAW, 4), addresses))
                .isEqualTo("\n1f\n1e\n");
        assertThat(text(new StackType(false, ValueType.StackMode.RAW, 4), new byte[0]))
                .isEqualTo("\n");
        byte[] user = Little.bytes().i32(77, 0).i64(5, -1, 6).get();
        assertThat(text(new StackType(true, ValueType.StackMode.BPFTRACE, 3), user))
                .isEqualTo("\n        f5+1@77\n        <unwind failure>\n");
    }

    @Test
    void stacksOfBuildIds() {
        Little bytes = Little.bytes().i32(77, 0).i32(1);
        for (int i = 0; i < 20; i++) {
            bytes.i8(i);
        }
        byte[] stack = bytes.i64(5).i32(2).zeros(20).i64(0x1234).zeros(32).get();
        assertThat(text(new StackType(true, ValueType.StackMode.BUILD_ID, 3), stack))
                .isEqualTo("\n000102030405060708090a0b0c0d0e0f10111213 0x05\n1234\n");
    }

    @Test
    void aggregates() {
        assertThat(text(new CountType(), Little.i64s(3))).isEqualTo("3");
        assertThat(text(new SumType(true), Little.i64s(-6))).isEqualTo("-6");
        assertThat(text(new ExtremeType(true, true), Little.i64s(-1, 1))).isEqualTo("-1");
        assertThat(text(new AverageType(false, true), Little.i64s(-7, 2))).isEqualTo("-3");
        assertThat(text(new AverageType(false, true), Little.i64s(0, 0))).isEqualTo("0");
        ValueType stats = new AverageType(true, true);
        assertThat(text(stats, Little.i64s(6, 3)))
                .isEqualTo("{ .count = 3, .average = 2, .total = 6 }");
        assertThat(json(stats, Little.i64s(12, 2)))
                .isEqualTo("{\"count\": 2, \"average\": 6, \"total\": 12}");
    }
}
