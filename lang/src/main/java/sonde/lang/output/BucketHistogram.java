package sonde.lang.output;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SumType;

/** The buckets of a histogram between the first and the last that are not empty. */
final class BucketHistogram {
    private static final int BAR_WIDTH = 52;
    private static final String SUFFIXES = "KMGTPE";

    /**
     * A bound.
     *
     * @param label with a suffix, null for a plain number
     */
    private record BucketBound(long number, @Nullable String label) {}

    private final AggregateType type;
    private final long[] counts;
    private int first;
    private int last = -1;

    private BucketHistogram(AggregateType type, long[] counts) {
        this.type = type;
        this.counts = counts;
    }

    /** By powers of two, the counts divided. */
    static BucketHistogram of(HistType type, byte[] bytes, int at, long divisor) {
        return read(type, type.buckets(), bytes, at, divisor);
    }

    /** By equal steps; nothing divides these counts. */
    static BucketHistogram of(LhistType type, byte[] bytes, int at) {
        return read(type, type.buckets(), bytes, at, 1);
    }

    private static BucketHistogram read(
            AggregateType type, int buckets, byte[] bytes, int at, long divisor) {
        BucketHistogram histogram = new BucketHistogram(type, new long[buckets]);
        for (int i = 0; i < buckets; i++) {
            long count = ValueBytes.u64(bytes, at + 8 * i);
            if (count != 0) {
                histogram.first = histogram.last < 0 ? i : histogram.first;
                histogram.last = i;
                histogram.counts[i] = Long.divideUnsigned(count, divisor);
            }
        }
        return histogram;
    }

    /** What the values of a bucket are below; null for no bound. */
    private @Nullable BucketBound upper(int bucket) {
        return switch (type) {
            case HistType hist -> power(bucket, hist.bits());
            case LhistType lhist -> bucket == counts.length - 1 ? null : step(bucket, lhist);
            case CountType _, SumType _, ExtremeType _, AverageType _, SeriesType _ -> null;
        };
    }

    private @Nullable BucketBound lower(int bucket) {
        return bucket == 0 ? null : upper(bucket - 1);
    }

    private static BucketBound power(int bucket, int bits) {
        if (bucket <= 2 << bits) {
            return new BucketBound(bucket, null);
        }
        int steps = 1 << bits;
        int factor = steps + (bucket & (steps - 1));
        int power = (bucket >> bits) - 1;
        long number = power >= 64 ? 0 : (long) factor << power;
        int decade = power / 10;
        String text = Long.toString((long) factor << power - 10 * decade);
        return new BucketBound(number, decade == 0 ? text : text + SUFFIXES.charAt(decade - 1));
    }

    private static BucketBound step(int bucket, LhistType type) {
        long number = Math.min(type.max(), type.min() + bucket * type.step());
        if (type.step() % 1024 != 0) {
            return new BucketBound(number, null);
        }
        String text =
                number == 0 || number % 1024 != 0
                        ? Long.toString(number)
                        : number % (1024 * 1024) == 0
                                ? number / (1024 * 1024) + "M"
                                : number / 1024 + "K";
        return new BucketBound(number, text);
    }

    /** A line for each bucket: its bounds, its count and a bar. */
    void write(TextSink out) {
        float most = 0;
        for (long count : counts) {
            most = Math.max(most, size(count));
        }
        for (int i = first; i <= last; i++) {
            int start = out.size();
            bounds(lower(i), upper(i), out);
            out.fill(' ', start + 16 - out.size());
            start = out.size();
            out.unsigned(counts[i]);
            out.pad(start, 8, false);
            out.put(" |");
            int bar = most == 0 ? 0 : (int) (size(counts[i]) / most * BAR_WIDTH);
            out.fill('@', bar);
            out.fill(' ', BAR_WIDTH - bar);
            out.put("|\n");
        }
    }

    /** A count has no sign. */
    private static float size(long count) {
        return count < 0 ? Long.MAX_VALUE : count;
    }

    private static void bounds(
            @Nullable BucketBound lower, @Nullable BucketBound upper, TextSink out) {
        if (lower == null) {
            out.put("(..., ");
        } else {
            out.put('[');
            bound(lower, out);
            if (upper != null
                    && lower.label == null
                    && upper.label == null
                    && lower.number + 1 == upper.number) {
                out.put(']');
                return;
            }
            out.put(", ");
        }
        if (upper == null) {
            out.put("...");
        } else {
            bound(upper, out);
        }
        out.put(')');
    }

    private static void bound(BucketBound bound, TextSink out) {
        if (bound.label != null) {
            out.put(bound.label);
        } else {
            out.decimal(bound.number);
        }
    }

    /** An array of objects with min, max (both within the bucket) and count. */
    void writeJson(TextSink out) {
        out.put('[');
        for (int i = first; i <= last; i++) {
            out.put(i == first ? "{" : ",{");
            BucketBound lower = lower(i);
            if (lower != null) {
                out.put("\"min\": ");
                json(lower.number, i, out);
                out.put(", ");
            }
            BucketBound upper = upper(i);
            if (upper != null) {
                out.put("\"max\": ");
                json(upper.number - 1, i, out);
                out.put(", ");
            }
            out.put("\"count\": ");
            out.unsigned(counts[i]);
            out.put('}');
        }
        out.put(']');
    }

    /** A list for each bucket: its least and its greatest value, empty where none is, and count. */
    List<List<String>> rows() {
        List<List<String>> rows = new ArrayList<>();
        for (int i = first; i <= last; i++) {
            BucketBound lower = lower(i);
            BucketBound upper = upper(i);
            rows.add(
                    List.of(
                            lower == null ? "" : text(lower.number, i),
                            upper == null ? "" : text(upper.number - 1, i),
                            Long.toUnsignedString(counts[i])));
        }
        return rows;
    }

    private String text(long number, int bucket) {
        return isSigned(bucket) ? Long.toString(number) : Long.toUnsignedString(number);
    }

    /** Only the first bucket of powers of two has values below 0. */
    private boolean isSigned(int bucket) {
        return bucket == 0 || type instanceof LhistType;
    }

    private void json(long number, int bucket, TextSink out) {
        JsonValueText.number(number, isSigned(bucket), out);
    }
}
