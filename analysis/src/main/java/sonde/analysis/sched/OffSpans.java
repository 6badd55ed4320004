package sonde.analysis.sched;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.analysis.sched.OffCpu.OffCpuCause;

/**
 * Single spans off the CPU with their {@link OffCpu.OffCpuCause}. The longest are kept: when there
 * are too many, those below a threshold are added up by cause and the threshold doubles. Together
 * the rows have all time off the CPU.
 */
public final class OffSpans implements StateSlices {
    private static final int KEPT = 200_000;

    private final int limit;
    private final Map<OffCpuCause, ShortSpans> causes = new HashMap<>();
    private ShortSpans[] whose = new ShortSpans[1024];
    private long[] starts = new long[1024];
    private long[] lengths = new long[1024];
    private int size;
    private long threshold = 1;
    private long merged;

    /** Nothing yet. */
    public OffSpans() {
        this(KEPT);
    }

    /**
     * @param limit most spans to keep singly
     */
    OffSpans(int limit) {
        this.limit = limit;
    }

    /** The sum of the spans of a cause that are not kept singly. */
    private static final class ShortSpans {
        final OffCpuCause cause;
        long nanos;
        long count;
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;

        ShortSpans(OffCpuCause cause) {
            this.cause = cause;
        }

        void add(long from, long length) {
            nanos += length;
            count++;
            first = Math.min(first, from);
            last = Math.max(last, from + length);
        }
    }

    /** One span, or the short ones of a cause together: those lie between its start and end. */
    public record OffCpuSpan(OffCpuCause cause, long start, long end, long nanos, long count) {}

    @Override
    public boolean needsStacks() {
        return true;
    }

    @Override
    public void slice(ThreadStates states, int thread, ThreadState state, long from, long to) {
        if (state == ThreadState.RUNNING || state == ThreadState.UNKNOWN) {
            return;
        }
        ShortSpans cause =
                causes.computeIfAbsent(OffCpuCause.of(states, thread, state), ShortSpans::new);
        if (to - from < threshold) {
            merge(cause, from, to - from);
            return;
        }
        while (size == limit) {
            threshold *= 2;
            thin();
        }
        if (size == starts.length) {
            int capacity = 2 * size;
            starts = Arrays.copyOf(starts, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
            whose = Arrays.copyOf(whose, capacity);
        }
        starts[size] = from;
        lengths[size] = to - from;
        whose[size++] = cause;
    }

    private void merge(ShortSpans cause, long from, long length) {
        cause.add(from, length);
        merged++;
    }

    private void thin() {
        int kept = 0;
        for (int i = 0; i < size; i++) {
            if (lengths[i] >= threshold) {
                starts[kept] = starts[i];
                lengths[kept] = lengths[i];
                whose[kept++] = whose[i];
            } else {
                merge(whose[i], starts[i], lengths[i]);
            }
        }
        size = kept;
    }

    /** Number of spans that are rows only together with others, each shorter than a threshold. */
    public long merged() {
        return merged;
    }

    /** Nanoseconds below which spans are added up. */
    public long threshold() {
        return threshold;
    }

    /** All time off the CPU, by start. */
    public List<OffCpuSpan> rows() {
        List<OffCpuSpan> rows = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            long end = starts[i] + lengths[i];
            rows.add(new OffCpuSpan(whose[i].cause, starts[i], end, lengths[i], 1));
        }
        for (ShortSpans sum : causes.values()) {
            if (sum.count > 0) {
                rows.add(new OffCpuSpan(sum.cause, sum.first, sum.last, sum.nanos, sum.count));
            }
        }
        rows.sort(
                Comparator.comparingLong(OffCpuSpan::start)
                        .thenComparing(row -> row.cause.thread()));
        return rows;
    }
}
