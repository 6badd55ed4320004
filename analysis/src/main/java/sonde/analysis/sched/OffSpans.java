package sonde.analysis.sched;

import java.util.Arrays;

/**
 * Single spans off the CPU with the chain at the switch-out, in the order in which they ended. The
 * longest are kept: when there are too many, those below a threshold go and the threshold doubles.
 */
public final class OffSpans implements Slices {
    private static final int KEPT = 200_000;

    private long[] starts = new long[1024];
    private long[] lengths = new long[1024];
    private int[] threads = new int[1024];
    private int[] nodes = new int[1024];
    private int size;
    private long threshold = 1;
    private long dropped;

    /** Nothing yet. */
    public OffSpans() {}

    @Override
    public boolean needsStacks() {
        return true;
    }

    @Override
    public void slice(ThreadStates states, int thread, ThreadState state, long from, long to) {
        boolean off = state != ThreadState.RUNNING && state != ThreadState.UNKNOWN;
        if (!off || states.stack(thread) < 0) {
            return;
        }
        if (to - from < threshold) {
            dropped++;
            return;
        }
        while (size == KEPT) {
            threshold *= 2;
            thin();
        }
        if (size == starts.length) {
            int capacity = 2 * size;
            starts = Arrays.copyOf(starts, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
            threads = Arrays.copyOf(threads, capacity);
            nodes = Arrays.copyOf(nodes, capacity);
        }
        starts[size] = from;
        lengths[size] = to - from;
        threads[size] = thread;
        nodes[size++] = states.stack(thread);
    }

    private void thin() {
        int kept = 0;
        for (int i = 0; i < size; i++) {
            if (lengths[i] >= threshold) {
                starts[kept] = starts[i];
                lengths[kept] = lengths[i];
                threads[kept] = threads[i];
                nodes[kept++] = nodes[i];
            }
        }
        dropped += size - kept;
        size = kept;
    }

    /** Number of spans kept. */
    public int size() {
        return size;
    }

    /** Number of spans left out, each shorter than {@link #threshold()}. */
    public long dropped() {
        return dropped;
    }

    /** Nanoseconds below which spans are left out. */
    public long threshold() {
        return threshold;
    }

    /** When a span began. */
    public long start(int index) {
        return starts[index];
    }

    /** How long it was. */
    public long nanos(int index) {
        return lengths[index];
    }

    /** Whose it was. */
    public int thread(int index) {
        return threads[index];
    }

    /** Its chain. */
    public int node(int index) {
        return nodes[index];
    }
}
