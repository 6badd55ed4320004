package sonde.event.result;

import java.util.List;

/**
 * What each thread did when, and the call chains it did it in.
 *
 * @param start first time, nanoseconds of the recording's clock
 * @param end last time
 * @param states names of the states; a span refers to one by index
 * @param stacks the chains that {@code samples} refer to
 * @param stateNanos by state the time of all threads, also of those that have no track; empty where
 *     the tracks are all there is
 * @param lanes what is shown besides
 */
public record Timeline(
        String title,
        long start,
        long end,
        List<String> states,
        List<TimelineRow> tracks,
        CallChains stacks,
        List<TimelineSamples> samples,
        long[] stateNanos,
        TimelineLanes lanes)
        implements Result {
    /**
     * One row.
     *
     * @param name "comm tid"
     * @param command name of the process, by which rows are put together; empty for none
     * @param pid process, -1 when unknown
     * @param tid thread, or CPU number for a CPU's row
     * @param starts start of each span, ascending
     * @param ends end of each span, at most the next start
     * @param spanStates index into {@link Timeline#states}
     * @param stateNanos by state the exact time, where spans are joined to what a screen can show;
     *     empty where the spans are exact
     */
    public record TimelineRow(
            String name,
            String command,
            int pid,
            int tid,
            long[] starts,
            long[] ends,
            byte[] spanStates,
            long[] stateNanos) {
        /** With exact spans. */
        public TimelineRow(
                String name, int pid, int tid, long[] starts, long[] ends, byte[] states) {
            this(name, "", pid, tid, starts, ends, states, new long[0]);
        }
    }

    /** With a track for every thread. */
    public Timeline(
            String title,
            long start,
            long end,
            List<String> states,
            List<TimelineRow> tracks,
            CallChains stacks,
            List<TimelineSamples> samples) {
        this(title, start, end, states, tracks, stacks, samples, new long[0], TimelineLanes.NONE);
    }

    public Timeline {
        states = List.copyOf(states);
        tracks = List.copyOf(tracks);
        samples = List.copyOf(samples);
    }
}
