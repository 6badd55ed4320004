package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.lang.type.Type;

final class AggregatesTest {
    private static byte[] merge(Type.Aggregate type, int cpus, long... values) {
        byte[] bytes = Little.i64s(values);
        return Aggregates.merge(type, bytes, bytes.length / cpus, cpus);
    }

    @Test
    void sumsAndAverages() {
        assertThat(merge(new Type.Count(), 3, 1, 2, 3)).isEqualTo(Little.i64s(6));
        assertThat(merge(new Type.Sum(true), 2, 1, -2)).isEqualTo(Little.i64s(-1));
        byte[] average = merge(new Type.Average(false, true), 2, 10, 2, -4, 1);
        assertThat(average).isEqualTo(Little.i64s(6, 3));
        assertThat(Aggregates.number(new Type.Average(false, true), average, 0)).isEqualTo(2);
        byte[] huge = Little.i64s(-2, 2);
        assertThat(Aggregates.number(new Type.Average(false, false), huge, 0))
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void strideAboveTheSize() {
        byte[] bytes = Little.i64s(1, 99, 2, 99);
        assertThat(Aggregates.merge(new Type.Count(), bytes, 16, 2)).isEqualTo(Little.i64s(3));
        assertThat(Aggregates.merge(new Type.Count(), bytes, 16, 50)).isEqualTo(Little.i64s(3));
        assertThat(Aggregates.merge(new Type.Count(), new byte[2], 8, 2)).isEqualTo(Little.i64s(0));
    }

    @Test
    void extremesOfCpusThatHaveOne() {
        Type.Extreme min = new Type.Extreme(false, true);
        assertThat(merge(min, 3, 0, 0, 5, 1, -3, 1)).isEqualTo(Little.i64s(-3, 1));
        assertThat(merge(min, 2, 0, 0, 0, 0)).isEqualTo(Little.i64s(0, 0));
        assertThat(merge(new Type.Extreme(true, true), 2, -9, 1, -3, 1))
                .isEqualTo(Little.i64s(-3, 1));
        assertThat(merge(new Type.Extreme(true, false), 2, -9, 1, 3, 1))
                .isEqualTo(Little.i64s(-9, 1));
    }

    @Test
    void histogramsBucketByBucket() {
        Type.Lhist lhist = new Type.Lhist(0, 10, 10);
        assertThat(merge(lhist, 2, 1, 2, 3, 10, 20, 30)).isEqualTo(Little.i64s(11, 22, 33));
    }

    @Test
    void seriesTakeTheLaterInterval() {
        Type.Series last = new Type.Series(1, 1, true, Type.SeriesKind.LAST);
        assertThat(merge(last, 3, 5, 100, 7, 6, 50, 8, 9, 900, 7)).isEqualTo(Little.i64s(6, 50, 8));
        assertThat(merge(last, 2, 5, 100, 7, 6, 200, 7)).isEqualTo(Little.i64s(6, 200, 7));
        assertThat(merge(last, 2, 0, 0, 0, 6, 200, 7)).isEqualTo(Little.i64s(6, 200, 7));
        assertThat(merge(series(Type.SeriesKind.AVERAGE), 2, 5, 1, 7, 6, 2, 7))
                .isEqualTo(Little.i64s(11, 3, 7));
        assertThat(merge(series(Type.SeriesKind.SUM), 2, 5, 0, 7, 6, 0, 7))
                .isEqualTo(Little.i64s(11, 0, 7));
        assertThat(merge(series(Type.SeriesKind.MIN), 2, 5, 1, 7, -6, 1, 7))
                .isEqualTo(Little.i64s(-6, 1, 7));
        assertThat(merge(series(Type.SeriesKind.MAX), 2, 5, 1, 7, -6, 1, 7))
                .isEqualTo(Little.i64s(5, 1, 7));
    }

    private static Type.Series series(Type.SeriesKind kind) {
        return new Type.Series(1, 1, true, kind);
    }
}
