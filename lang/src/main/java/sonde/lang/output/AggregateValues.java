package sonde.lang.output;

import java.util.Arrays;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SumType;

/** Aggregates: those of all CPUs put together, and what a number of one is. */
public final class AggregateValues {
    private static final int BUCKET_BYTES = 24;

    private AggregateValues() {}

    /**
     * One value of what each CPU has, in the same layout.
     *
     * @param perCpu a value for each CPU
     * @param strideBytes from one CPU's to the next one's, at least the type's size
     */
    public static byte[] merge(AggregateType type, byte[] perCpu, int strideBytes, int cpus) {
        byte[] into = ValueBytes.slice(perCpu, 0, type.sizeBytes());
        if (into.length < type.sizeBytes()) {
            into = Arrays.copyOf(into, type.sizeBytes());
        }
        for (int cpu = 1; cpu < cpus; cpu++) {
            long at = (long) cpu * strideBytes;
            if (at >= perCpu.length) {
                break;
            }
            add(type, into, perCpu, (int) at);
        }
        return into;
    }

    private static void add(AggregateType type, byte[] into, byte[] from, int at) {
        switch (type) {
            case CountType _, SumType _, AverageType _, HistType _, LhistType _ -> {
                for (int i = 0; i < into.length; i += 8) {
                    long sum = ValueBytes.u64(into, i) + ValueBytes.u64(from, at + i);
                    ValueBytes.u64(into, i, sum);
                }
            }
            case ExtremeType extreme -> {
                long other = ValueBytes.u64(from, at);
                boolean isSet = ValueBytes.u64(into, 8) != 0;
                if (ValueBytes.u64(from, at + 8) != 0
                        && (!isSet
                                || wins(
                                        extreme.max(),
                                        extreme.signed(),
                                        other,
                                        ValueBytes.u64(into, 0)))) {
                    ValueBytes.u64(into, 0, other);
                    ValueBytes.u64(into, 8, 1);
                }
            }
            case SeriesType series -> {
                for (int i = 0; i < series.buckets(); i++) {
                    bucket(series, into, i * BUCKET_BYTES, from, at + i * BUCKET_BYTES);
                }
            }
        }
    }

    private static boolean wins(boolean max, boolean signed, long value, long than) {
        int order = signed ? Long.compare(value, than) : Long.compareUnsigned(value, than);
        return max ? order > 0 : order < 0;
    }

    /** The later interval wins; the same interval's values are put together. */
    private static void bucket(SeriesType type, byte[] into, int to, byte[] from, int at) {
        long interval = ValueBytes.u64(from, at + 16);
        int order = Long.compareUnsigned(interval, ValueBytes.u64(into, to + 16));
        long value = ValueBytes.u64(from, at);
        long meta = ValueBytes.u64(from, at + 8);
        if (order < 0 || interval == 0 && value == 0 && meta == 0) {
            return;
        }
        if (order == 0 && interval != 0) {
            long ours = ValueBytes.u64(into, to);
            long oursMeta = ValueBytes.u64(into, to + 8);
            switch (type.kind()) {
                case LAST -> {
                    boolean later = Long.compareUnsigned(meta, oursMeta) > 0;
                    value = later ? value : ours;
                    meta = later ? meta : oursMeta;
                }
                case AVERAGE -> {
                    value += ours;
                    meta += oursMeta;
                }
                case SUM -> value += ours;
                case MIN, MAX -> {
                    boolean max = type.kind() == ValueType.SeriesKind.MAX;
                    value = wins(max, type.signed(), value, ours) ? value : ours;
                }
            }
        }
        ValueBytes.u64(into, to, value);
        ValueBytes.u64(into, to + 8, meta);
        ValueBytes.u64(into, to + 16, interval);
    }

    /** The count, sum, extreme or average; of histograms how many values, of series 0. */
    public static long number(AggregateType type, byte[] bytes, int offset) {
        return switch (type) {
            case CountType _, SumType _, ExtremeType _ -> ValueBytes.u64(bytes, offset);
            case AverageType average -> {
                long total = ValueBytes.u64(bytes, offset);
                long count = count(bytes, offset);
                yield count == 0
                        ? 0
                        : average.signed() ? total / count : Long.divideUnsigned(total, count);
            }
            case HistType _, LhistType _ -> {
                long sum = 0;
                for (int i = 0; i < type.sizeBytes(); i += 8) {
                    sum += ValueBytes.u64(bytes, offset + i);
                }
                yield sum;
            }
            case SeriesType _ -> 0;
        };
    }

    /** The number of values of an average. */
    public static long count(byte[] bytes, int offset) {
        return ValueBytes.u64(bytes, offset + 8);
    }

    /** Whether its number has a sign. */
    public static boolean signed(AggregateType type) {
        return switch (type) {
            case CountType _, HistType _, LhistType _ -> false;
            case SumType sum -> sum.signed();
            case ExtremeType extreme -> extreme.signed();
            case AverageType average -> average.signed();
            case SeriesType series -> series.signed();
        };
    }
}
