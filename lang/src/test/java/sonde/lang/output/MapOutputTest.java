package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.output.MapRows.MapStyle;
import sonde.lang.output.MapRows.RowForm;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.SumType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/** Maps as text and as JSON. */
final class MapOutputTest {
    private static final TextType WORD = new TextType(8);
    private static final ValueType AVERAGE = new AverageType(false, true);

    private static byte[] word(String text) {
        return Little.bytes().text(text, 8).get();
    }

    private static MapRows scalar(String name, ValueType value, byte[] bytes) {
        return new MapRows(
                name, true, new VoidType(), value, List.of(new MapRow(new byte[0], bytes)));
    }

    private static MapRows empty(ValueType value) {
        return new MapRows("@", true, new VoidType(), value, List.of());
    }

    /** Keys are words, values numbers. */
    private static MapRows counted(ValueType value, Object... keysAndValues) {
        List<MapRow> rows = new ArrayList<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            byte[] bytes = Little.i64s(((Integer) keysAndValues[i + 1]).longValue(), 1);
            rows.add(new MapRow(word((String) keysAndValues[i]), bytes));
        }
        return new MapRows("@", false, WORD, value, rows);
    }

    private static String text(MapRows rows) {
        return Printed.text(out -> out.map(rows, 0, 1));
    }

    private static String json(MapRows rows) {
        return Printed.json(out -> out.map(rows, 0, 1));
    }

    @Test
    void scalars() {
        MapRows five = scalar("@scalar", IntType.I64, Little.i64s(5));
        assertThat(text(five)).isEqualTo("@scalar: 5\n");
        assertThat(json(five)).isEqualTo("{\"type\": \"map\", \"data\": {\"@scalar\": 5}}\n");
        MapRows words = scalar("@s", WORD, word("a b \n d"));
        assertThat(json(words))
                .isEqualTo("{\"type\": \"map\", \"data\": {\"@s\": \"a b \\n d\"}}\n");
        MapRows stats = scalar("@stats", new AverageType(true, true), Little.i64s(12, 2));
        assertThat(json(stats))
                .isEqualTo(
                        "{\"type\": \"stats\", \"data\": {\"@stats\": {\"count\": 2, "
                                + "\"average\": 6, \"total\": 12}}}\n");
    }

    @Test
    void emptyOnes() {
        assertThat(text(empty(IntType.I64))).isEqualTo("@: 0\n");
        assertThat(text(empty(new AverageType(true, true))))
                .isEqualTo("@: { .count = 0, .average = 0, .total = 0 }\n");
        TupleType record =
                TupleType.ofRecord(
                        List.of("a", "b"),
                        List.of(IntType.I64, TupleType.of(List.of(IntType.I64, WORD))));
        assertThat(text(empty(record))).isEqualTo("@: { .a = 0, .b = (0, ) }\n");
        assertThat(text(empty(new HistType(0)))).isEmpty();
        assertThat(text(counted(IntType.I64))).isEmpty();
        assertThat(json(counted(IntType.I64))).isEmpty();
        assertThat(json(counted(AVERAGE)))
                .isEqualTo("{\"type\": \"stats\", \"data\": {\"@\": {}}}\n");
        MapRows none = empty(IntType.I64);
        assertThat(Printed.text(out -> out.mapAtEnd(none))).isEmpty();
        assertThat(Printed.json(out -> out.mapAtEnd(none))).isEmpty();
    }

    /** bpftrace takes them away, and a reader of JSON then has one of two. */
    @Test
    void keysInJsonKeepTheirSpaces() {
        assertThat(json(counted(IntType.I64, "a b", 1, "ab", 2)))
                .isEqualTo("{\"type\": \"map\", \"data\": {\"@\": {\"a b\": 1, \"ab\": 2}}}\n");
    }

    /** systemd's "(sd-pam)" is a name as any. */
    @Test
    void parenthesesOfATextAreItsOwn() {
        MapRows rows = counted(IntType.U64, "(pam)", 1);
        assertThat(text(rows)).isEqualTo("@[(pam)]: 1\n");
        assertThat(json(rows)).contains("{\"(pam)\": 1}");
    }

    @Test
    void keys() {
        TupleType key = TupleType.of(List.of(WORD, IntType.I64));
        MapRows rows =
                new MapRows(
                        "@complex",
                        false,
                        key,
                        IntType.I64,
                        List.of(
                                new MapRow(
                                        Little.bytes().text("bpf x", 8).i64(2).get(),
                                        Little.i64s(5))));
        assertThat(text(rows)).isEqualTo("@complex[bpf x, 2]: 5\n");
        assertThat(json(rows))
                .isEqualTo("{\"type\": \"map\", \"data\": {\"@complex\": {\"bpf x,2\": 5}}}\n");
        TupleType nested = TupleType.of(List.of(key, IntType.I64));
        MapRows inner =
                new MapRows(
                        "@",
                        false,
                        nested,
                        new BoolType(),
                        List.of(
                                new MapRow(
                                        Little.bytes().text("hi", 8).i64(2, 3).get(),
                                        new byte[] {1})));
        assertThat(text(inner)).isEqualTo("@[(hi, 2), 3]: true\n");
        StackType stack = new StackType(false, ValueType.StackMode.BPFTRACE, 2);
        MapRows stacks =
                new MapRows(
                        "@",
                        false,
                        stack,
                        new CountType(),
                        List.of(new MapRow(Little.i64s(7, 0), Little.i64s(2))));
        assertThat(text(stacks)).isEqualTo("@[\n        f7+1\n]: 2\n");
    }

    @Test
    void numbersSortByValueThenKey() {
        MapRows rows = counted(IntType.I64, "b", 2, "c", -1, "a", 2);
        assertThat(text(rows)).isEqualTo("@[c]: -1\n@[a]: 2\n@[b]: 2\n");
        MapRows unsigned = counted(IntType.U64, "b", 2, "c", -1);
        assertThat(text(unsigned)).isEqualTo("@[b]: 2\n@[c]: 18446744073709551615\n");
        EnumType letter = new EnumType("l", 8, false, Map.of(1L, "ONE"));
        assertThat(text(counted(letter, "a", 2, "b", 1))).isEqualTo("@[b]: ONE\n@[a]: 2\n");
    }

    @Test
    void allElseSortsByKey() {
        MapRows words =
                new MapRows(
                        "@",
                        false,
                        IntType.I32,
                        WORD,
                        List.of(
                                new MapRow(Little.bytes().i32(2).get(), word("a")),
                                new MapRow(Little.bytes().i32(-1).get(), word("b"))));
        assertThat(text(words)).isEqualTo("@[-1]: b\n@[2]: a\n");
        TupleType pair = TupleType.of(List.of(IntType.I32, WORD));
        List<MapRow> rows = new ArrayList<>();
        for (String key : List.of("2a", "1b", "1a")) {
            byte[] bytes = Little.bytes().i32(key.charAt(0) - '0').text(key.substring(1), 8).get();
            rows.add(new MapRow(bytes, new byte[] {1}));
        }
        MapRows pairs = new MapRows("@", false, pair, new BoolType(), rows);
        assertThat(text(pairs)).isEqualTo("@[1, a]: true\n@[1, b]: true\n@[2, a]: true\n");
    }

    @Test
    void topAndDivisor() {
        MapRows rows = counted(AVERAGE, "b", 20, "d", 40, "a", 10, "c", 30);
        assertThat(Printed.text(out -> out.map(rows, 2, 10))).isEqualTo("@[c]: 3\n@[d]: 4\n");
        assertThat(Printed.text(out -> out.map(rows, 10, 0)))
                .isEqualTo("@[a]: 10\n@[b]: 20\n@[c]: 30\n@[d]: 40\n");
        assertThat(Printed.json(out -> out.map(rows, 2, 10)))
                .isEqualTo("{\"type\": \"stats\", \"data\": {\"@\": {\"c\": 3, \"d\": 4}}}\n");
        MapRows stats = scalar("@", new AverageType(true, true), Little.i64s(40, 2));
        assertThat(Printed.text(out -> out.map(stats, 0, 10)))
                .isEqualTo("@: { .count = 2, .average = 2, .total = 40 }\n");
        MapRows negative = scalar("@", new SumType(true), Little.i64s(-25));
        assertThat(Printed.text(out -> out.map(negative, 0, 10))).isEqualTo("@: -2\n");
    }

    @Test
    void otherOrders() {
        MapRows rows = counted(new CountType(), "b", 3, "a", 1, "c", 2);
        assertThat(Printed.text(out -> out.map(rows, MapOrder.KEY, 0, 1)))
                .isEqualTo("@[a]: 1\n@[b]: 3\n@[c]: 2\n");
        assertThat(Printed.text(out -> out.map(rows, MapOrder.KEY_DESCENDING, 1, 1)))
                .isEqualTo("@[c]: 2\n");
        assertThat(Printed.text(out -> out.map(rows, MapOrder.VALUE_DESCENDING, 2, 1)))
                .isEqualTo("@[b]: 3\n@[c]: 2\n");
        assertThat(Printed.text(out -> out.map(rows, MapOrder.VALUE, 2, 1)))
                .isEqualTo("@[c]: 2\n@[b]: 3\n");
    }

    @Test
    void anOrderForAllMaps() {
        MapStyle style = new MapStyle(MapOrder.VALUE_DESCENDING, RowForm.USUAL);
        MapRows rows = counted(new CountType(), "b", 3, "a", 1, "c", 2);
        assertThat(Printed.text(style, out -> out.map(rows, 2, 1))).isEqualTo("@[b]: 3\n@[c]: 2\n");
        assertThat(Printed.text(style, out -> out.mapAtEnd(rows)))
                .isEqualTo("@[b]: 3\n@[c]: 2\n@[a]: 1\n");
        assertThat(Printed.text(style, out -> out.map(rows, MapOrder.KEY, 0, 1)))
                .isEqualTo("@[a]: 1\n@[b]: 3\n@[c]: 2\n");
    }

    @Test
    void commaSeparatedValues() {
        MapStyle style = new MapStyle(MapOrder.KEY, RowForm.CSV);
        TupleType key = TupleType.of(List.of(WORD, IntType.I64));
        List<MapRow> rows = new ArrayList<>();
        for (String word : List.of("a,b", "say \"x\"", " plain ")) {
            rows.add(new MapRow(Little.bytes().text(word, 8).i64(-7).get(), Little.i64s(5)));
        }
        MapRows map = new MapRows("@m", false, key, IntType.I64, rows);
        assertThat(Printed.text(style, out -> out.map(map, 0, 1)))
                .isEqualTo("@m, plain ,-7,5\n@m,\"a,b\",-7,5\n@m,\"say \"\"x\"\"\",-7,5\n");
        MapRows stats = scalar("@stats", new AverageType(true, true), Little.i64s(12, 2));
        assertThat(Printed.text(style, out -> out.map(stats, 0, 1))).isEqualTo("@stats,2,6,12\n");
    }

    /** A line for each bucket, or interval. */
    @Test
    void severalValuesOfARowAreLines() {
        MapStyle style = new MapStyle(MapOrder.KEY, RowForm.CSV);
        long[] counts = new long[new HistType(0).buckets()];
        counts[0] = 7;
        counts[3] = 1;
        byte[] key = Little.bytes().text("a,b", 8).get();
        MapRow row = new MapRow(key, Little.i64s(counts));
        MapRows powers = new MapRows("@h", false, WORD, new HistType(0), List.of(row));
        assertThat(Printed.text(style, out -> out.map(powers, 0, 1)))
                .isEqualTo(
                        """
                        @h,"a,b",,-1,7
                        @h,"a,b",0,0,0
                        @h,"a,b",1,1,0
                        @h,"a,b",2,3,1
                        """);
        LhistType steps = new LhistType(0, 10, 5);
        MapRows linear = scalar("@l", steps, Little.i64s(1, 0, 2, 3));
        assertThat(Printed.text(style, out -> out.map(linear, 0, 1)))
                .isEqualTo("@l,,-1,1\n@l,0,4,0\n@l,5,9,2\n@l,10,,3\n");
        SeriesType second = new SeriesType(1_000_000_000, 2, true, ValueType.SeriesKind.SUM);
        MapRows series = scalar("@t", second, Little.i64s(-4, 0, 60, 9, 0, 61));
        assertThat(Printed.text(style, out -> out.map(series, 0, 1)))
                .isEqualTo(
                        """
                        @t,1970-01-01 00:01:00.000000000,-4
                        @t,1970-01-01 00:01:01.000000000,9
                        """);
    }

    /** What a tool says for people is none of its maps. */
    @Test
    void mapsAlone() throws FormatException {
        MapStyle csv = new MapStyle(MapOrder.KEY, RowForm.CSV).ofTool(true, "Do so.");
        MapRows rows = counted(new CountType(), "b", 3);
        PrintFormat said = PrintFormat.parse("Measuring...\n");
        Consumer<ScriptOutput> tool =
                out -> {
                    out.printf(said, TupleType.of(List.of()), new byte[0], 0);
                    out.time("12:00:00\n");
                    out.map(rows, 0, 1);
                };
        assertThat(Printed.text(csv, tool)).isEqualTo("time,12:00:00\n@,b,3\n");
        ByteArrayOutputStream json = new ByteArrayOutputStream();
        JsonOutput output = new JsonOutput(json, new MachineNames(), csv, null);
        tool.accept(output);
        output.mapFull();
        output.flush();
        assertThat(json.toString(StandardCharsets.UTF_8))
                .isEqualTo(
                        """
                        {"type": "time", "data": "12:00:00\\n"}
                        {"type": "map", "data": {"@": {"b": 3}}}
                        {"type": "warnf", "msg": "Map full; can't update element. Do so."}
                        """);
    }

    /** A word, a stack of the kernel, one of process 7; innermost first. */
    private static MapRows stacks() {
        StackType kernel = new StackType(false, ValueType.StackMode.BPFTRACE, 3, false);
        StackType user = new StackType(true, ValueType.StackMode.BPFTRACE, 2, false);
        TupleType key = TupleType.of(List.of(WORD, kernel, user));
        byte[] bytes = Little.bytes().text("a;b", 8).i64(1, 2, 3).i32(7).zeros(4).i64(4, 5).get();
        return new MapRows(
                "@m", false, key, IntType.I64, List.of(new MapRow(bytes, Little.i64s(12))));
    }

    @Test
    void foldedStacks() {
        MapStyle byKind = new MapStyle(MapOrder.DEFAULT, RowForm.FOLDED);
        assertThat(Printed.text(byKind, out -> out.map(stacks(), 0, 1)))
                .isEqualTo("a:b;u5@7;u4@7;k3;k2;k1 12\n");
        MapStyle given =
                new MapStyle(MapOrder.DEFAULT, RowForm.FOLDED, List.of("1", "--", "-2", "0"));
        assertThat(Printed.text(given, out -> out.map(stacks(), 0, 1)))
                .isEqualTo("k3;k2;k1;--;u4@7;u5@7;a:b 12\n");
        assertThat(Printed.text(byKind, out -> out.time("12:00\n"))).isEmpty();
    }

    /** The same with a process behind the word. */
    private static MapRows stacksOfAProcess() {
        StackType kernel = new StackType(false, ValueType.StackMode.BPFTRACE, 2, false);
        StackType user = new StackType(true, ValueType.StackMode.BPFTRACE, 2, false);
        TupleType key = TupleType.of(List.of(user, kernel, WORD, IntType.I64));
        List<MapRow> rows = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            byte[] bytes =
                    Little.bytes()
                            .i32(7)
                            .zeros(4)
                            .i64(4, 5)
                            .i64(1, 2)
                            .text("a;b", 8)
                            .i64(70 + i)
                            .get();
            rows.add(new MapRow(bytes, Little.i64s(30 - i)));
        }
        return new MapRows("@m", false, key, IntType.I64, rows);
    }

    private static String json(MapStyle style) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        JsonOutput out = new JsonOutput(bytes, new MachineNames(), style, null);
        out.map(stacksOfAProcess(), 0, 1);
        out.flush();
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void stacksForPeopleAreInTheFormOfBccMostLast() {
        MapStyle kind = new MapStyle(MapOrder.DEFAULT, RowForm.USUAL, List.of("kind"));
        String stack = "    k1\n    k2\n    u4@7\n    u5@7\n    -                a;b (";
        assertThat(Printed.text(kind, out -> out.map(stacksOfAProcess(), 0, 1)))
                .isEqualTo(stack + "72)\n        28\n\n" + stack + "71)\n        29\n\n");
        MapStyle first = new MapStyle(MapOrder.VALUE_DESCENDING, RowForm.USUAL, List.of("kind"));
        assertThat(Printed.text(first, out -> out.map(stacksOfAProcess(), 1, 1)))
                .isEqualTo(stack + "71)\n        29\n\n");
        MapStyle named =
                new MapStyle(
                        MapOrder.DEFAULT,
                        RowForm.USUAL,
                        List.of("waker:2,3", "1", "--", "0", "target:2"));
        assertThat(Printed.text(named, out -> out.map(stacksOfAProcess(), 1, 1)))
                .isEqualTo(
                        "    waker:           a;b 71\n    k1\n    k2\n"
                                + "    --               --\n    u4@7\n    u5@7\n"
                                + "    target:          a;b\n        29\n\n");
        assertThat(json(kind))
                .isEqualTo(
                        """
                        {"kernel": ["k1", "k2"], "user": ["u4@7", "u5@7"], "comm": "a;b", "pid": 72, "value": 28}
                        {"kernel": ["k1", "k2"], "user": ["u4@7", "u5@7"], "comm": "a;b", "pid": 71, "value": 29}
                        """);
        MapStyle waker =
                new MapStyle(
                        MapOrder.DEFAULT,
                        RowForm.USUAL,
                        List.of("target:2", "waker_stack=1", "--", "waker:2,3"));
        assertThat(json(waker).lines().findFirst())
                .hasValue(
                        "{\"target\": \"a;b\", \"waker_stack\": [\"k1\", \"k2\"],"
                                + " \"waker\": \"a;b\", \"waker_tid\": 72, \"value\": 28}");
        MapStyle folded = new MapStyle(MapOrder.DEFAULT, RowForm.FOLDED, List.of("kind"));
        assertThat(Printed.text(folded, out -> out.map(stacksOfAProcess(), 0, 1)))
                .isEqualTo("a:b;u5@7;u4@7;k2;k1 57\n");
    }

    /** Rows that differ in what is not shown are one line, in the order of their sums. */
    @Test
    void equalFoldedStacksAreAddedUp() {
        List<MapRow> rows = new ArrayList<>();
        for (long[] one : new long[][] {{1, 200}, {2, 250}, {3, 100}, {1, 7}}) {
            String word = one[0] == 2 ? "b" : "a";
            rows.add(
                    new MapRow(
                            Little.bytes().text(word, 8).i64(one[0]).get(),
                            new byte[] {(byte) one[1]}));
        }
        TupleType key = TupleType.of(List.of(WORD, IntType.I64));
        MapRows map = new MapRows("@m", false, key, IntType.U8, rows);
        MapStyle words = new MapStyle(MapOrder.DEFAULT, RowForm.FOLDED, List.of("0"));
        assertThat(Printed.text(words, out -> out.map(map, 0, 1))).isEqualTo("b 250\na 307\n");
        assertThat(Printed.text(words, out -> out.map(map, 1, 100))).isEqualTo("a 3\n");
        MapRow stats = new MapRow(rows.getFirst().key(), Little.i64s(12, 2));
        ValueType average = new AverageType(true, true);
        MapRows sums = new MapRows("@s", false, key, average, List.of(stats, stats));
        assertThat(Printed.text(words, out -> out.map(sums, 0, 1))).isEqualTo("a 24\n");
    }

    @Test
    void theTracersOwnFramesAreLeftOut() {
        ValueNames own =
                new WithoutTracer(
                        new MachineNames("bpf_prog_0123456789abcdef_a", "bpf_trace_run4"));
        assertThat(own.kernelPart(new long[] {0, 1, 3, 1})).containsExactly(3, 1);
        assertThat(own.kernelPart(new long[] {0, 1})).containsExactly(0, 1);
        assertThat(own.kernelPart(new long[] {3, 0})).containsExactly(3, 0);
    }
}
