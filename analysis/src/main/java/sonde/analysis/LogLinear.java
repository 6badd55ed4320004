package sonde.analysis;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Histogram;
import sonde.event.result.Unit;

/**
 * A distribution of values in buckets whose width grows with the value: 64 per octave, so a
 * quantile is off by at most 1/128 of its value (0.8 %); values below 64 are exact. Count, sum,
 * least and greatest are exact. An octave takes 256 bytes once a value fell into it.
 */
public final class LogLinear {
    private static final int BITS = 6;
    private static final int PER_OCTAVE = 1 << BITS;

    private final int[] @Nullable [] octaves = new int[64 - BITS][];
    private long count;
    private long sum;
    private long min = Long.MAX_VALUE;
    private long max;

    /** No values yet. */
    public LogLinear() {}

    /** Adds a value; negative ones count as 0. */
    public void add(long value) {
        long v = Math.max(value, 0);
        count++;
        sum += v;
        if (v < min) {
            min = v;
        }
        if (v > max) {
            max = v;
        }
        int octave = octave(v);
        int[] buckets = octaves[octave];
        if (buckets == null) {
            buckets = new int[PER_OCTAVE];
            octaves[octave] = buckets;
        }
        int index = (int) (v >>> Math.max(octave - 1, 0)) & (PER_OCTAVE - 1);
        if (buckets[index] != Integer.MAX_VALUE) {
            buckets[index]++;
        }
    }

    /** 0 for values below 64, then one per power of two. */
    private static int octave(long value) {
        return value < PER_OCTAVE ? 0 : 64 - BITS - Long.numberOfLeadingZeros(value);
    }

    private static long lower(int octave, int index) {
        return octave == 0 ? index : (long) (PER_OCTAVE + index) << (octave - 1);
    }

    private static long width(int octave) {
        return octave == 0 ? 1 : 1L << (octave - 1);
    }

    /** Adds all values of another. */
    public void add(LogLinear other) {
        count += other.count;
        sum += other.sum;
        min = Math.min(min, other.min);
        max = Math.max(max, other.max);
        for (int octave = 0; octave < octaves.length; octave++) {
            int[] from = other.octaves[octave];
            if (from == null) {
                continue;
            }
            int[] into = octaves[octave];
            if (into == null) {
                octaves[octave] = from.clone();
                continue;
            }
            for (int i = 0; i < PER_OCTAVE; i++) {
                into[i] = (int) Math.min((long) into[i] + from[i], Integer.MAX_VALUE);
            }
        }
    }

    /** Number of values. */
    public long count() {
        return count;
    }

    /** Their sum. */
    public long sum() {
        return sum;
    }

    /** The greatest, 0 when empty. */
    public long max() {
        return max;
    }

    /** The least, 0 when empty. */
    public long min() {
        return count == 0 ? 0 : min;
    }

    /** Their mean, 0 when empty. */
    public long mean() {
        return count == 0 ? 0 : sum / count;
    }

    /**
     * The value below or at which that share of the values lies.
     *
     * @param share between 0 and 1
     * @return the middle of its bucket, within [{@link #min()}, {@link #max()}]; 0 when empty
     */
    public long quantile(double share) {
        long rank = (long) Math.ceil(share * count);
        long seen = 0;
        for (int octave = 0; octave < octaves.length; octave++) {
            int[] buckets = octaves[octave];
            for (int i = 0; buckets != null && i < PER_OCTAVE; i++) {
                seen += buckets[i];
                if (buckets[i] != 0 && seen >= rank) {
                    long middle = lower(octave, i) + width(octave) / 2;
                    return Math.clamp(middle, min(), max);
                }
            }
        }
        return max;
    }

    /** The distribution by powers of two, from the first to the last that holds a value. */
    public Histogram histogram(String title, Unit unit) {
        List<Histogram.Bucket> result = new ArrayList<>();
        if (count == 0) {
            return new Histogram(title, unit, result);
        }
        int bits = 64 - Long.numberOfLeadingZeros(min());
        int last = 64 - Long.numberOfLeadingZeros(max);
        for (; bits <= last; bits++) {
            long from = bits == 0 ? 0 : 1L << (bits - 1);
            long to = bits == 63 ? Long.MAX_VALUE : 1L << bits;
            result.add(new Histogram.Bucket(from, to, countBetween(from, to)));
        }
        return new Histogram(title, unit, result);
    }

    private long countBetween(long from, long to) {
        long total = 0;
        for (int octave = 0; octave < octaves.length; octave++) {
            int[] buckets = octaves[octave];
            for (int i = 0; buckets != null && i < PER_OCTAVE; i++) {
                long low = lower(octave, i);
                if (low >= from && low < to) {
                    total += buckets[i];
                }
            }
        }
        return total;
    }
}
