package sonde.analysis.sched;

import java.util.Arrays;

/** Time per thread and state. The states of a thread add up to its time in the recording. */
public final class StateTotals implements StateSlices {
    private static final int STATES = ThreadState.values().length;

    private long[][] nanos = new long[64][];
    private long[] kernel = new long[64];
    private long[] first = new long[64];
    private long[] last = new long[64];
    private int[] runs = new int[64];

    /** Nothing yet. */
    public StateTotals() {}

    @Override
    public void slice(ThreadStates states, int thread, ThreadState state, long from, long to) {
        if (thread >= nanos.length) {
            int capacity = Math.max(thread + 1, 2 * nanos.length);
            nanos = Arrays.copyOf(nanos, capacity);
            kernel = Arrays.copyOf(kernel, capacity);
            first = Arrays.copyOf(first, capacity);
            last = Arrays.copyOf(last, capacity);
            runs = Arrays.copyOf(runs, capacity);
        }
        long[] sums = nanos[thread];
        if (sums == null) {
            sums = new long[STATES];
            nanos[thread] = sums;
            first[thread] = from;
        }
        last[thread] = to;
        sums[state.ordinal()] += to - from;
        if (state == ThreadState.RUNNING) {
            kernel[thread] += Math.min(states.kernelNanos(thread), to - from);
            runs[thread]++;
        }
    }

    /** Whether anything is known of the thread. */
    public boolean has(int thread) {
        return thread < nanos.length && nanos[thread] != null;
    }

    /** Time in a state. */
    public long nanos(int thread, ThreadState state) {
        return has(thread) ? nanos[thread][state.ordinal()] : 0;
    }

    /** Running time inside system calls, part of {@link ThreadState#RUNNING}. */
    public long kernelNanos(int thread) {
        return has(thread) ? kernel[thread] : 0;
    }

    /** From its first to its last moment in the recording. */
    public long wallNanos(int thread) {
        return has(thread) ? last[thread] - first[thread] : 0;
    }

    /** Its first moment in the recording; only where {@link #has}. */
    public long first(int thread) {
        return first[thread];
    }

    /** Its last moment in the recording; only where {@link #has}. */
    public long last(int thread) {
        return last[thread];
    }

    /** How often it ran: spans on a CPU. */
    public int runs(int thread) {
        return has(thread) ? runs[thread] : 0;
    }
}
