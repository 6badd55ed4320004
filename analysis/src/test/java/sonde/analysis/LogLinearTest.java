package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.event.result.Histogram;
import sonde.event.result.Unit;

final class LogLinearTest {
    @Test
    void quantilesAreWithinTheStatedPrecision() {
        Random random = new Random(42);
        long[] values = new long[20_000];
        LogLinear all = new LogLinear();
        LogLinear odd = new LogLinear();
        for (int i = 0; i < values.length; i++) {
            values[i] = (long) Math.exp(random.nextDouble() * 43);
            (i % 2 == 0 ? all : odd).add(values[i]);
        }
        all.add(odd);
        Arrays.sort(values);
        for (double share : new double[] {0.01, 0.5, 0.9, 0.99, 0.999, 1}) {
            long exact = values[(int) Math.ceil(share * values.length) - 1];
            double error = Math.abs(all.quantile(share) - exact) / (double) Math.max(exact, 1);
            assertThat(error).as("p%s of %d", share, exact).isLessThanOrEqualTo(1.0 / 128);
        }
        assertThat(all.min()).isEqualTo(values[0]);
        assertThat(all.max()).isEqualTo(values[values.length - 1]);
        assertThat(all.sum()).isEqualTo(Arrays.stream(values).sum());
    }

    @Test
    void theExtremesFit() {
        LogLinear values = new LogLinear();
        values.add(-5);
        values.add(Long.MAX_VALUE);
        assertThat(values.quantile(0.5)).isZero();
        assertThat(values.quantile(1)).isBetween(Long.MAX_VALUE / 128 * 127, Long.MAX_VALUE);
        assertThat(new LogLinear().quantile(0.5)).isZero();
    }

    @Test
    void theHistogramHoldsEveryValueOnce() {
        LogLinear values = new LogLinear();
        for (long value : new long[] {0, 1, 2, 3, 63, 64, 1000, 1_000_000}) {
            values.add(value);
        }
        Histogram histogram = values.histogram("h", Unit.NANOS);
        assertThat(histogram.buckets().stream().mapToLong(Histogram.Bucket::count).sum())
                .isEqualTo(8);
        assertThat(histogram.buckets().get(2)).isEqualTo(new Histogram.Bucket(2, 4, 2));
    }
}
