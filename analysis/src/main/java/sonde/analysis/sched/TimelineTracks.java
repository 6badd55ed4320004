package sonde.analysis.sched;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import sonde.analysis.ThreadTable;
import sonde.event.result.Timeline.TimelineRow;

/**
 * The spans of every thread, as fine as a screen can show: spans shorter than 1/4000 of the whole
 * are joined with their neighbours to one of the state that lasted longest among them.
 */
public final class TimelineTracks implements StateSlices {
    /** Spans of a finished track. */
    public static final int PIXELS = 4000;

    private static final int STATES = ThreadState.values().length;
    private static final int BEFORE_JOINING = 4 * PIXELS;

    private final Map<Integer, ThreadTrack> tracks = new HashMap<>();

    /** Nothing yet. */
    public TimelineTracks() {}

    private static final class ThreadTrack {
        long[] starts = new long[16];
        long[] ends = new long[16];
        byte[] states = new byte[16];
        final long[] nanos = new long[STATES];
        int size;

        void add(byte state, long from, long to) {
            if (size > 0 && states[size - 1] == state && ends[size - 1] == from) {
                ends[size - 1] = to;
                return;
            }
            if (size == BEFORE_JOINING) {
                join((to - starts[0]) / PIXELS);
            }
            if (size == starts.length) {
                starts = Arrays.copyOf(starts, 2 * size);
                ends = Arrays.copyOf(ends, 2 * size);
                states = Arrays.copyOf(states, 2 * size);
            }
            starts[size] = from;
            ends[size] = to;
            states[size++] = state;
        }

        /** Joins runs of spans that fit into one pixel. */
        void join(long pixel) {
            int kept = 0;
            long[] share = new long[STATES];
            for (int i = 0; i < size; ) {
                long start = starts[i];
                int next = i + 1;
                while (next < size && ends[next] - start <= pixel) {
                    next++;
                }
                byte state = states[i];
                if (next > i + 1) {
                    Arrays.fill(share, 0);
                    for (int k = i; k < next; k++) {
                        share[states[k]] += ends[k] - starts[k];
                    }
                    for (byte k = 0; k < STATES; k++) {
                        state = share[k] > share[state] ? k : state;
                    }
                }
                starts[kept] = start;
                ends[kept] = ends[next - 1];
                states[kept++] = state;
                i = next;
            }
            size = kept;
        }
    }

    @Override
    public void slice(ThreadStates states, int thread, ThreadState state, long from, long to) {
        ThreadTrack track = tracks.computeIfAbsent(thread, ignored -> new ThreadTrack());
        track.nanos[state.ordinal()] += to - from;
        track.add((byte) state.ordinal(), from, to);
    }

    /**
     * The threads with most running time.
     *
     * @param limit at most so many
     * @param mostSpans at most so many spans together
     * @return numbers of threads, busiest first
     */
    public List<Integer> busiest(IntPredicate which, int limit, int mostSpans) {
        List<Integer> all = new ArrayList<>(tracks.keySet());
        all.removeIf(thread -> !which.test(thread));
        all.sort(
                Comparator.comparingLong((Integer thread) -> -busy(thread))
                        .thenComparing(thread -> thread));
        int count = 0;
        for (long spans = 0; count < Math.min(limit, all.size()); count++) {
            spans += Math.min(spans(all.get(count)), 2 * PIXELS);
            if (spans > mostSpans) {
                break;
            }
        }
        return List.copyOf(all.subList(0, count));
    }

    private int spans(int thread) {
        ThreadTrack track = tracks.get(thread);
        return track == null ? 0 : track.size;
    }

    private long busy(int thread) {
        ThreadTrack track = tracks.get(thread);
        return track == null ? 0 : track.nanos[ThreadState.RUNNING.ordinal()];
    }

    /**
     * The track of a thread.
     *
     * @param command name of its process
     */
    public TimelineRow track(ThreadTable threads, int thread, String command, long wallNanos) {
        ThreadTrack track = tracks.getOrDefault(thread, new ThreadTrack());
        track.join(wallNanos / PIXELS);
        int size = track.size;
        return new TimelineRow(
                threads.name(thread) + " " + threads.tid(thread),
                command,
                threads.pid(thread),
                threads.tid(thread),
                Arrays.copyOf(track.starts, size),
                Arrays.copyOf(track.ends, size),
                Arrays.copyOf(track.states, size),
                track.nanos.clone());
    }
}
