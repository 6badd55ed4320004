package sonde.analysis.sched;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * What ran on each CPU, as fine as a screen can show: the spans within 1/4000 of the whole are
 * joined to one of the thread that ran longest among them.
 */
public final class CpuTracks implements StateSlices {
    private static final int BEFORE_JOINING = 4 * TimelineTracks.PIXELS;

    /** More CPUs than a kernel has (CONFIG_NR_CPUS is at most 8192). */
    private static final int MOST_CPUS = 8192;

    private final Map<Integer, CpuSpans> cpus = new TreeMap<>();

    /** Nothing yet. */
    public CpuTracks() {}

    /** The spans of one CPU, ascending; the first {@link #size} of each column. */
    public static final class CpuSpans {
        private long[] starts = new long[16];
        private long[] ends = new long[16];
        private long[] busy = new long[16];
        private int[] threads = new int[16];
        private int size;

        private CpuSpans() {}

        private void add(int thread, long from, long to) {
            if (size > 0 && (ends[size - 1] > from)) {
                return; // two threads at once: a gap in the events
            }
            if (size > 0 && threads[size - 1] == thread && ends[size - 1] == from) {
                ends[size - 1] = to;
                busy[size - 1] += to - from;
                return;
            }
            if (size == BEFORE_JOINING) {
                join((to - starts[0]) / TimelineTracks.PIXELS);
            }
            if (size == starts.length) {
                starts = Arrays.copyOf(starts, 2 * size);
                ends = Arrays.copyOf(ends, 2 * size);
                busy = Arrays.copyOf(busy, 2 * size);
                threads = Arrays.copyOf(threads, 2 * size);
            }
            set(size++, thread, from, to, to - from);
        }

        private void set(int i, int thread, long from, long to, long nanos) {
            starts[i] = from;
            ends[i] = to;
            busy[i] = nanos;
            threads[i] = thread;
        }

        private void join(long pixel) {
            int kept = 0;
            for (int i = 0; i < size; ) {
                int next = i + 1;
                int most = i;
                long sum = busy[i];
                while (next < size && ends[next] - starts[i] <= pixel) {
                    most = busy[next] > busy[most] ? next : most;
                    sum += busy[next++];
                }
                set(kept++, threads[most], starts[i], ends[next - 1], sum);
                i = next;
            }
            size = kept;
        }

        /** Number of spans. */
        public int size() {
            return size;
        }

        /** When a span begins. */
        public long start(int i) {
            return starts[i];
        }

        /** When a span ends. */
        public long end(int i) {
            return ends[i];
        }

        /** Nanoseconds of a span in which any thread ran. */
        public long busy(int i) {
            return busy[i];
        }

        /** The thread that ran longest in a span. */
        public int thread(int i) {
            return threads[i];
        }
    }

    @Override
    public void slice(ThreadStates states, int thread, ThreadState state, long from, long to) {
        int cpu = states.cpu(thread);
        if (state == ThreadState.RUNNING && cpu >= 0 && cpu < MOST_CPUS) {
            cpus.computeIfAbsent(cpu, ignored -> new CpuSpans()).add(thread, from, to);
        }
    }

    /** The CPUs on which anything is known to have run, by number. */
    public Map<Integer, CpuSpans> cpus(long wallNanos) {
        cpus.values().forEach(one -> one.join(wallNanos / TimelineTracks.PIXELS));
        return cpus;
    }
}
