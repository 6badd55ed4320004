package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.event.result.Column;
import sonde.event.result.Histogram;
import sonde.event.result.Histogram.Bound;
import sonde.event.result.Histogram.Bucket;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.TextType;

final class MapResultTest {
    private static final MapResult RESULTS = new MapResult(new MachineNames());

    private static Result of(ValueType value, MapRow... rows) {
        return RESULTS.of(new MapRows("@m", false, new TextType(8), value, List.of(rows)));
    }

    private static MapRow row(String key, long... words) {
        return new MapRow(Little.bytes().text(key, 8).get(), Little.i64s(words));
    }

    @Test
    void aRowForEachKeyInOrderOfValues() {
        Result counts = of(new CountType(), row("much", 7), row("few", 2), row("all", -1));
        assertThat(counts).isInstanceOf(Table.class);
        assertThat(((Table) counts).rows())
                .containsExactly(
                        List.of("few", 2L),
                        List.of("much", 7L),
                        List.of("all", "18446744073709551615"));
    }

    @Test
    void statisticsAreThreeColumns() {
        Table table = (Table) of(new AverageType(true, true), row("a", -9, 2));
        assertThat(table.columns())
                .extracting(Column::name)
                .containsExactly("key", "count", "average", "total");
        assertThat(table.rows()).containsExactly(List.of("a", 2L, -4L, -9L));
    }

    @Test
    void histogramsAreOpenAtTheirEnds() {
        long[] counts = new long[new LhistType(0, 10, 5).buckets()];
        counts[0] = 3;
        counts[counts.length - 1] = 1;
        Report report = (Report) of(new LhistType(0, 10, 5), row("k", counts));
        Histogram steps = (Histogram) report.sections().getFirst();
        assertThat(steps.title()).isEqualTo("@m[k]");
        assertThat(steps.buckets())
                .containsExactly(
                        new Bucket(null, new Bound(0, ""), 3),
                        new Bucket(0, 5, 0),
                        new Bucket(5, 10, 0),
                        new Bucket(new Bound(10, ""), null, 1));
    }

    @Test
    void powersOfTwoHaveLabels() {
        HistType type = new HistType(0);
        long[] counts = new long[type.buckets()];
        counts[12] = 1;
        Report report = (Report) of(type, row("k", counts));
        assertThat(((Histogram) report.sections().getFirst()).buckets())
                .containsExactly(new Bucket(new Bound(1024, "1K"), new Bound(2048, "2K"), 1));
    }
}
