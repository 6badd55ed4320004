package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.VoidType;

final class BucketHistogramTest {
    private static final String FULL = "|" + "@".repeat(52) + "|\n";
    private static final String HALF = "|" + "@".repeat(26) + " ".repeat(26) + "|\n";
    private static final String NONE = "|" + " ".repeat(52) + "|\n";

    private static byte[] hist(HistType type, long... values) {
        long[] counts = new long[type.buckets()];
        for (long value : values) {
            counts[bucket(type.bits(), value)]++;
        }
        return Little.i64s(counts);
    }

    /** As the layout of {@link ValueType.HistType} says. */
    private static int bucket(int bits, long value) {
        if (value < 0) {
            return 0;
        }
        if (value < 1L << bits) {
            return (int) value + 1;
        }
        int place = 63 - Long.numberOfLeadingZeros(value);
        int step = (int) (value >> place - bits) & (1 << bits) - 1;
        return (place - bits + 1 << bits) + 1 + step;
    }

    private static byte[] lhist(LhistType type, long... values) {
        long[] counts = new long[type.buckets()];
        for (long value : values) {
            long bucket =
                    value < type.min()
                            ? 0
                            : value >= type.max()
                                    ? counts.length - 1
                                    : (value - type.min()) / type.step() + 1;
            counts[(int) bucket]++;
        }
        return Little.i64s(counts);
    }

    private static MapRows scalar(ValueType type, byte[] value) {
        return new MapRows(
                "@", true, new VoidType(), type, List.of(new MapRow(new byte[0], value)));
    }

    private static String text(ValueType type, byte[] value) {
        return Printed.text(out -> out.map(scalar(type, value), 0, 1));
    }

    private static String json(ValueType type, byte[] value) {
        return Printed.json(out -> out.map(scalar(type, value), 0, 1));
    }

    @Test
    void powersOfTwo() {
        HistType type = new HistType(0);
        assertThat(text(type, hist(type, -1, 2, 3, 7, 20)))
                .isEqualTo(
                        "@:\n(..., 0)               1 "
                                + HALF
                                + "[0]                    0 "
                                + NONE
                                + "[1]                    0 "
                                + NONE
                                + "[2, 4)                 2 "
                                + FULL
                                + "[4, 8)                 1 "
                                + HALF
                                + "[8, 16)                0 "
                                + NONE
                                + "[16, 32)               1 "
                                + HALF
                                + "\n");
        assertThat(json(type, hist(type, -1, 1)))
                .isEqualTo(
                        "{\"type\": \"hist\", \"data\": {\"@\": [{\"max\": -1, \"count\": 1},"
                                + "{\"min\": 0, \"max\": 0, \"count\": 0},"
                                + "{\"min\": 1, \"max\": 1, \"count\": 1}]}}\n");
        assertThat(json(type, hist(type, 10L << 30)))
                .contains("[{\"min\": 8589934592, \"max\": 17179869183, \"count\": 1}]");
        assertThat(text(type, hist(type, 10L << 30))).contains("[8G, 16G)              1 |");
        assertThat(text(type, hist(type, 1023, 1024)))
                .contains("[512, 1K)              1 |", "[1K, 2K)               1 |");
        assertThat(text(type, hist(type, Long.MAX_VALUE))).contains("[4E, 8E)");
    }

    @Test
    void unsignedValuesAboveTheSign() {
        HistType type = new HistType(0);
        long[] counts = new long[type.buckets()];
        counts[65] = 1;
        byte[] value = Little.i64s(counts);
        assertThat(text(type, value)).contains("[8E, 16E)");
        assertThat(json(type, value))
                .contains("{\"min\": 9223372036854775808, \"max\": \"18446744073709551615\"");
    }

    @Test
    void stepsWithinPowersOfTwo() {
        HistType type = new HistType(3);
        String text = text(type, hist(type, 15, 16, 17, 18, 1023));
        assertThat(text)
                .contains("[15]                   1 |")
                .contains("[16, 18)               2 |")
                .contains("[18, 20)               1 |")
                .contains("[960, 1024)            1 |");
        assertThat(json(type, hist(type, 16, 1000)))
                .contains("[{\"min\": 16, \"max\": 17, \"count\": 1}")
                .contains("{\"min\": 960, \"max\": 1023, \"count\": 1}]");
    }

    @Test
    void equalSteps() {
        LhistType type = new LhistType(0, 10, 2);
        assertThat(text(type, lhist(type, 2, 3, 7, -1, 11)))
                .isEqualTo(
                        "@:\n(..., 0)               1 "
                                + HALF
                                + "[0, 2)                 0 "
                                + NONE
                                + "[2, 4)                 2 "
                                + FULL
                                + "[4, 6)                 0 "
                                + NONE
                                + "[6, 8)                 1 "
                                + HALF
                                + "[8, 10)                0 "
                                + NONE
                                + "[10, ...)              1 "
                                + HALF
                                + "\n");
        assertThat(json(type, lhist(type, 9, 11)))
                .contains("[{\"min\": 8, \"max\": 9, \"count\": 1},{\"min\": 10, \"count\": 1}]");
    }

    @Test
    void onlyTheOuterBuckets() {
        LhistType type = new LhistType(10, 110, 10);
        assertThat(text(type, lhist(type, 5)))
                .isEqualTo("@:\n(..., 10)              1 " + FULL + "\n");
        assertThat(text(type, lhist(type, 200)))
                .isEqualTo("@:\n[110, ...)             1 " + FULL + "\n");
    }

    @Test
    void suffixesWhenTheStepHasOne() {
        LhistType kilo = new LhistType(0, 5 * 1024, 1024);
        assertThat(text(kilo, lhist(kilo, 5, 1024, 5 * 1024)))
                .contains("[0, 1K)                1 |", "[1K, 2K)               1 |")
                .contains("[5K, ...)              1 |");
        assertThat(json(kilo, lhist(kilo, 1024)))
                .contains("[{\"min\": 1024, \"max\": 2047, \"count\": 1}]");
        LhistType plain = new LhistType(610_000, 670_000, 10_000);
        assertThat(text(plain, lhist(plain, 640_000))).contains("[640000, 650000)       1 |");
        LhistType mega = new LhistType(0, 4 << 20, 1 << 20);
        assertThat(text(mega, lhist(mega, 1 << 20))).contains("[1M, 2M) ");
    }

    @Test
    void lastStepIsShorter() {
        LhistType type = new LhistType(0, 10, 3);
        assertThat(text(type, lhist(type, 9, 10)))
                .contains("[9]                    1 |", "[10, ...)              1 |");
    }

    @Test
    void emptyAndDivided() {
        HistType type = new HistType(0);
        assertThat(text(type, hist(type))).isEqualTo("@:\n\n");
        assertThat(json(type, hist(type)))
                .isEqualTo("{\"type\": \"hist\", \"data\": {\"@\": []}}\n");
        byte[] four = hist(type, 1, 1, 1, 1, 2);
        assertThat(Printed.text(out -> out.map(scalar(type, four), 0, 2)))
                .isEqualTo(
                        "@:\n[1]                    2 "
                                + FULL
                                + "[2, 4)                 0 "
                                + NONE
                                + "\n");
        assertThat(Printed.text(out -> out.map(scalar(type, four), 0, 100))).contains(NONE);
    }

    @Test
    void severalSortByHowManyValues() {
        HistType type = new HistType(0);
        MapRows rows =
                new MapRows(
                        "@",
                        false,
                        IntType.I64,
                        type,
                        List.of(
                                new MapRow(Little.i64s(1), hist(type, 10, 10)),
                                new MapRow(Little.i64s(3), hist(type, 30)),
                                new MapRow(Little.i64s(2), hist(type, 20))));
        assertThat(Printed.text(out -> out.map(rows, 2, 1)))
                .isEqualTo(
                        "@[3]:\n[16, 32)               1 "
                                + FULL
                                + "\n@[1]:\n[8, 16)                2 "
                                + FULL
                                + "\n");
        assertThat(Printed.json(out -> out.map(rows, 1, 1)))
                .isEqualTo(
                        "{\"type\": \"hist\", \"data\": {\"@\": {\"1\": "
                                + "[{\"min\": 8, \"max\": 15, \"count\": 2}]}}}\n");
    }
}
