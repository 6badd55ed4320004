package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

final class SeriesTest {
    private static final long TENTH = 100_000_000;

    /** Values of intervals from a first one on. */
    private static byte[] series(SeriesType type, long first, long... values) {
        long[] cells = new long[type.buckets() * 3];
        for (int i = 0; i < values.length; i++) {
            long interval = first + i;
            int at = (int) (interval % type.buckets()) * 3;
            cells[at] = values[i];
            cells[at + 1] = 1;
            cells[at + 2] = interval;
        }
        return Little.i64s(cells);
    }

    private static SeriesType type(int buckets, long nanos) {
        return new SeriesType(nanos, buckets, true, ValueType.SeriesKind.LAST);
    }

    private static MapRows scalar(ValueType type, byte[] value) {
        return new MapRows(
                "@a", true, new VoidType(), type, List.of(new MapRow(new byte[0], value)));
    }

    private static String line(String time, int star, String value) {
        StringBuilder graph = new StringBuilder("|" + " ".repeat(51) + "|");
        graph.setCharAt(star, '*');
        return time + " " + graph + " " + value + "\n";
    }

    private static String edges(String left, String right) {
        return left + " ".repeat(53 - left.length() - right.length()) + right + "\n";
    }

    @Test
    void oneValue() {
        SeriesType type = type(5, TENTH);
        MapRows rows = scalar(type, series(type, 5, 9, 9, 9, 9, 9));
        StringBuilder expected = new StringBuilder("@a:\n" + " ".repeat(13) + edges("8", "10"));
        expected.append("hh:mm:ss.ms  |").append("_".repeat(51)).append("|\n");
        for (int i = 5; i < 10; i++) {
            expected.append(line("00:00:00." + i + "00", 26, "9"));
        }
        expected.append(" ".repeat(13)).append('v').append("_".repeat(51)).append("v\n");
        expected.append(" ".repeat(13)).append(edges("8", "10")).append('\n');
        assertThat(Printed.text(out -> out.map(rows, 0, 1))).isEqualTo(expected.toString());
        assertThat(Printed.json(out -> out.map(rows, 0, 1)))
                .startsWith(
                        "{\"type\": \"tseries\", \"data\": {\"@a\": [{\"interval_start\":"
                                + "\"1970-01-01 00:00:00.500000000\",\"value\":9},{");
    }

    @Test
    void valuesAroundZero() {
        SeriesType type = type(20, TENTH);
        long[] values = {-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4};
        MapRows rows = scalar(type, series(type, 1, values));
        String text = Printed.text(out -> out.map(rows, 0, 1));
        String zero = " ".repeat(25) + "." + " ".repeat(25) + "| -5\n";
        assertThat(text)
                .contains("00:00:00.100 *" + zero)
                .contains(line("00:00:00.600", 26, "0"))
                .contains("00:00:01.100 |" + " ".repeat(25) + "." + " ".repeat(25) + "* 5\n")
                .contains("00:00:00.200 |    *" + " ".repeat(20) + "." + " ".repeat(25) + "| -4\n")
                .contains(" ".repeat(13) + edges("-5", "5"));
    }

    @Test
    void leastAtTheEdge() {
        SeriesType type = new SeriesType(TENTH, 5, false, ValueType.SeriesKind.MIN);
        MapRows rows = scalar(type, series(type, 5, 0, 0, 0, 0, 0));
        assertThat(Printed.text(out -> out.map(rows, 0, 1)))
                .contains(" ".repeat(13) + edges("0", "1"))
                .contains("00:00:00.500 *" + " ".repeat(51) + "| 0\n");
    }

    @Test
    void averages() {
        SeriesType type = new SeriesType(TENTH, 1, true, ValueType.SeriesKind.AVERAGE);
        MapRows rows = scalar(type, Little.i64s(45, 10, 7));
        assertThat(Printed.json(out -> out.map(rows, 0, 1))).contains("\"value\":4}]");
    }

    @Test
    void nothingYet() {
        SeriesType type = type(5, TENTH);
        MapRows rows = scalar(type, new byte[type.sizeBytes()]);
        assertThat(Printed.text(out -> out.map(rows, 0, 1))).isEqualTo("@a:\n<no data>\n");
        assertThat(Printed.json(out -> out.map(rows, 0, 1)))
                .isEqualTo("{\"type\": \"tseries\", \"data\": {\"@a\": []}}\n");
    }

    @Test
    void severalShareTheLastInterval() {
        SeriesType type = type(10, TENTH);
        TextType word = new TextType(4);
        List<MapRow> rows = new ArrayList<>();
        rows.add(new MapRow(Little.bytes().text("two", 4).get(), series(type, 5, 4, 4, 4, 4, 4)));
        rows.add(new MapRow(Little.bytes().text("one", 4).get(), series(type, 0, 5, 5, 5, 5, 5)));
        MapRows map = new MapRows("@a", false, word, type, rows);
        String text = Printed.text(out -> out.map(map, 0, 1));
        // The first interval of all counts as never used, as in bpftrace.
        assertThat(text).startsWith("@a[one]:\n" + " ".repeat(13) + edges("0", "5"));
        assertThat(text)
                .contains(line("00:00:00.400", 52, "5"))
                .contains("00:00:00.500 |" + " ".repeat(51) + "| -\n")
                .contains("00:00:00.900 |" + " ".repeat(51) + "| -\n")
                .contains("\n\n@a[two]:\n" + " ".repeat(13) + edges("3", "5"));
        assertThat(Printed.json(out -> out.map(map, 0, 1)))
                .contains(
                        "{\"one\": [{\"interval_start\":\"1970-01-01 00:00:00.000000000\","
                                + "\"value\":0},")
                .contains(
                        "\"two\": [{\"interval_start\":\"1970-01-01 00:00:00.500000000\","
                                + "\"value\":4},");
    }

    @Test
    void unitsOfTheInterval() {
        assertThat(head(1_000_000_000)).startsWith("hh:mm:ss |").contains("00:00:07 ");
        assertThat(head(1_000)).startsWith("hh:mm:ss.\u03bcs    |").contains("00:00:00.000007 ");
        assertThat(head(10)).startsWith("hh:mm:ss.ns        |").contains("00:00:00.000000070 ");
    }

    private static String head(long intervalNanos) {
        SeriesType type = type(3, intervalNanos);
        MapRows rows = scalar(type, series(type, 6, 1, 2, 3));
        return Printed.text(out -> out.map(rows, 0, 1))
                .lines()
                .skip(2)
                .reduce((a, b) -> a + b)
                .orElse("");
    }
}
