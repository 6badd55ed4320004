package sonde.lang.output;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Histogram;
import sonde.event.result.Histogram.Bound;
import sonde.event.result.Histogram.Bucket;
import sonde.event.result.Unit;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.LhistType;

/**
 * Histograms of maps, from the first to the last bucket that is not empty, and how bpftrace prints
 * them.
 */
final class BucketHistogram {
    private static final int BAR_WIDTH = 52;
    private static final String SUFFIXES = "KMGTPE";

    private BucketHistogram() {}

    /** By powers of two, the counts divided. */
    static Histogram of(String title, HistType type, byte[] bytes, int at, long divisor) {
        IntFunction<@Nullable Bound> upper = bucket -> power(bucket, type.bits());
        return read(title, false, upper, counts(type.buckets(), bytes, at), divisor);
    }

    /** By equal steps; nothing divides these counts. */
    static Histogram of(String title, LhistType type, byte[] bytes, int at) {
        int last = type.buckets() - 1;
        IntFunction<@Nullable Bound> upper = bucket -> bucket == last ? null : step(bucket, type);
        return read(title, true, upper, counts(type.buckets(), bytes, at), 1);
    }

    private static long[] counts(int buckets, byte[] bytes, int at) {
        long[] counts = new long[buckets];
        for (int i = 0; i < buckets; i++) {
            counts[i] = ValueBytes.u64(bytes, at + 8 * i);
        }
        return counts;
    }

    private static Histogram read(
            String title,
            boolean signed,
            IntFunction<@Nullable Bound> upper,
            long[] counts,
            long divisor) {
        List<Bucket> buckets = new ArrayList<>();
        int full = 0;
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] != 0 || full > 0) {
                Bound lower = i == 0 ? null : upper.apply(i - 1);
                long count = Long.divideUnsigned(counts[i], divisor);
                buckets.add(new Bucket(lower, upper.apply(i), count));
                full = counts[i] != 0 ? buckets.size() : full;
            }
        }
        return new Histogram(title, Unit.COUNT, signed, buckets.subList(0, full));
    }

    /** The highest bound is 2 to the power of 64, with 0 as its number. */
    private static Bound power(int bucket, int bits) {
        if (bucket <= 2 << bits) {
            return new Bound(bucket, "");
        }
        int steps = 1 << bits;
        int factor = steps + (bucket & (steps - 1));
        int power = (bucket >> bits) - 1;
        long number = power >= 64 ? 0 : (long) factor << power;
        int decade = power / 10;
        String text = Long.toString((long) factor << power - 10 * decade);
        return new Bound(number, decade == 0 ? text : text + SUFFIXES.charAt(decade - 1));
    }

    private static Bound step(int bucket, LhistType type) {
        long number = Math.min(type.max(), type.min() + bucket * type.step());
        if (type.step() % 1024 != 0) {
            return new Bound(number, "");
        }
        String text =
                number == 0 || number % 1024 != 0
                        ? Long.toString(number)
                        : number % (1024 * 1024) == 0
                                ? number / (1024 * 1024) + "M"
                                : number / 1024 + "K";
        return new Bound(number, text);
    }

    /** A line for each bucket: its bounds, its count and a bar. */
    static void write(Histogram histogram, TextSink out) {
        float most = 0;
        for (Bucket bucket : histogram.buckets()) {
            most = Math.max(most, size(bucket.count()));
        }
        for (Bucket bucket : histogram.buckets()) {
            int start = out.size();
            bounds(bucket.from(), bucket.to(), out);
            out.fill(' ', start + 16 - out.size());
            start = out.size();
            out.unsigned(bucket.count());
            out.pad(start, 8, false);
            out.put(" |");
            int bar = most == 0 ? 0 : (int) (size(bucket.count()) / most * BAR_WIDTH);
            out.fill('@', bar);
            out.fill(' ', BAR_WIDTH - bar);
            out.put("|\n");
        }
    }

    /** A count has no sign. */
    private static float size(long count) {
        return count < 0 ? Long.MAX_VALUE : count;
    }

    private static void bounds(@Nullable Bound lower, @Nullable Bound upper, TextSink out) {
        if (lower == null) {
            out.put("(..., ");
        } else {
            out.put('[');
            bound(lower, out);
            if (upper != null
                    && lower.label().isEmpty()
                    && upper.label().isEmpty()
                    && lower.number() + 1 == upper.number()) {
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

    private static void bound(Bound bound, TextSink out) {
        if (bound.label().isEmpty()) {
            out.decimal(bound.number());
        } else {
            out.put(bound.label());
        }
    }

    /** An array of objects with min, max (both within the bucket) and count. */
    static void writeJson(Histogram histogram, TextSink out) {
        out.put('[');
        boolean isFirst = true;
        for (Bucket bucket : histogram.buckets()) {
            out.put(isFirst ? "{" : ",{");
            isFirst = false;
            if (bucket.from() != null) {
                out.put("\"min\": ");
                JsonValueText.number(bucket.from().number(), isSigned(histogram, bucket), out);
                out.put(", ");
            }
            if (bucket.to() != null) {
                out.put("\"max\": ");
                JsonValueText.number(bucket.to().number() - 1, isSigned(histogram, bucket), out);
                out.put(", ");
            }
            out.put("\"count\": ");
            out.unsigned(bucket.count());
            out.put('}');
        }
        out.put(']');
    }

    /** A list for each bucket: its least and its greatest value, empty where none is, and count. */
    static List<List<String>> rows(Histogram histogram) {
        List<List<String>> rows = new ArrayList<>();
        for (Bucket bucket : histogram.buckets()) {
            boolean signed = isSigned(histogram, bucket);
            rows.add(
                    List.of(
                            bucket.from() == null ? "" : text(bucket.from().number(), signed),
                            bucket.to() == null ? "" : text(bucket.to().number() - 1, signed),
                            Long.toUnsignedString(bucket.count())));
        }
        return rows;
    }

    private static String text(long number, boolean signed) {
        return signed ? Long.toString(number) : Long.toUnsignedString(number);
    }

    /** Only the first bucket of powers of two has values below 0. */
    private static boolean isSigned(Histogram histogram, Bucket bucket) {
        return histogram.signed() || bucket.from() == null;
    }
}
