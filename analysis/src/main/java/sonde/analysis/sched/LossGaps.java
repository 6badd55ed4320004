package sonde.analysis.sched;

import java.util.Arrays;

/** Spans of one CPU in which events were lost, in order. */
final class LossGaps {
    private long[] starts = new long[4];
    private long[] ends = new long[4];
    private int size;

    /** Adds a span that ends after all others; one that touches the last is joined to it. */
    void add(long start, long end) {
        if (size > 0 && start <= ends[size - 1]) {
            ends[size - 1] = Math.max(end, ends[size - 1]);
            return;
        }
        if (size == starts.length) {
            starts = Arrays.copyOf(starts, 2 * size);
            ends = Arrays.copyOf(ends, 2 * size);
        }
        starts[size] = start;
        ends[size++] = end;
    }

    /** Start of the first span that ends after {@code time}; {@link Long#MAX_VALUE} for none. */
    long startAfter(long time) {
        if (size == 0 || ends[size - 1] <= time) {
            return Long.MAX_VALUE;
        }
        int found = Arrays.binarySearch(ends, 0, size, time);
        int index = found >= 0 ? found + 1 : -found - 1;
        return Math.max(starts[index], time);
    }

    /** End of the last span; only to be asked after {@link #startAfter} found one. */
    long lastEnd() {
        return ends[size - 1];
    }
}
