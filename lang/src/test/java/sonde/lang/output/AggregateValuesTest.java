package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SumType;

final class AggregateValuesTest {
    private static byte[] merge(AggregateType type, int cpus, long... values) {
        byte[] bytes = Little.i64s(values);
        return AggregateValues.merge(type, bytes, bytes.length / cpus, cpus);
    }

    @Test
    void sumsAndAverages() {
        assertThat(merge(new CountType(), 3, 1, 2, 3)).isEqualTo(Little.i64s(6));
        assertThat(merge(new SumType(true), 2, 1, -2)).isEqualTo(Little.i64s(-1));
        byte[] average = merge(new AverageType(false, true), 2, 10, 2, -4, 1);
        assertThat(average).isEqualTo(Little.i64s(6, 3));
        assertThat(AggregateValues.number(new AverageType(false, true), average, 0)).isEqualTo(2);
        byte[] huge = Little.i64s(-2, 2);
        assertThat(AggregateValues.number(new AverageType(false, false), huge, 0))
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void strideAboveTheSize() {
        byte[] bytes = Little.i64s(1, 99, 2, 99);
        assertThat(AggregateValues.merge(new CountType(), bytes, 16, 2)).isEqualTo(Little.i64s(3));
        assertThat(AggregateValues.merge(new CountType(), bytes, 16, 50)).isEqualTo(Little.i64s(3));
        assertThat(AggregateValues.merge(new CountType(), new byte[2], 8, 2))
                .isEqualTo(Little.i64s(0));
    }

    @Test
    void extremesOfCpusThatHaveOne() {
        ExtremeType min = new ExtremeType(false, true);
        assertThat(merge(min, 3, 0, 0, 5, 1, -3, 1)).isEqualTo(Little.i64s(-3, 1));
        assertThat(merge(min, 2, 0, 0, 0, 0)).isEqualTo(Little.i64s(0, 0));
        assertThat(merge(new ExtremeType(true, true), 2, -9, 1, -3, 1))
                .isEqualTo(Little.i64s(-3, 1));
        assertThat(merge(new ExtremeType(true, false), 2, -9, 1, 3, 1))
                .isEqualTo(Little.i64s(-9, 1));
    }

    @Test
    void histogramsBucketByBucket() {
        LhistType lhist = new LhistType(0, 10, 10);
        assertThat(merge(lhist, 2, 1, 2, 3, 10, 20, 30)).isEqualTo(Little.i64s(11, 22, 33));
    }

    @Test
    void seriesTakeTheLaterInterval() {
        SeriesType last = new SeriesType(1, 1, true, ValueType.SeriesKind.LAST);
        assertThat(merge(last, 3, 5, 100, 7, 6, 50, 8, 9, 900, 7)).isEqualTo(Little.i64s(6, 50, 8));
        assertThat(merge(last, 2, 5, 100, 7, 6, 200, 7)).isEqualTo(Little.i64s(6, 200, 7));
        assertThat(merge(last, 2, 0, 0, 0, 6, 200, 7)).isEqualTo(Little.i64s(6, 200, 7));
        assertThat(merge(series(ValueType.SeriesKind.AVERAGE), 2, 5, 1, 7, 6, 2, 7))
                .isEqualTo(Little.i64s(11, 3, 7));
        assertThat(merge(series(ValueType.SeriesKind.SUM), 2, 5, 0, 7, 6, 0, 7))
                .isEqualTo(Little.i64s(11, 0, 7));
        assertThat(merge(series(ValueType.SeriesKind.MIN), 2, 5, 1, 7, -6, 1, 7))
                .isEqualTo(Little.i64s(-6, 1, 7));
        assertThat(merge(series(ValueType.SeriesKind.MAX), 2, 5, 1, 7, -6, 1, 7))
                .isEqualTo(Little.i64s(5, 1, 7));
    }

    private static SeriesType series(ValueType.SeriesKind kind) {
        return new SeriesType(1, 1, true, kind);
    }
}
