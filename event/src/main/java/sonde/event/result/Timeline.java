package sonde.event.result;

import java.util.List;

/**
 * What each thread did when, and the call chains it did it in.
 *
 * @param start first time, nanoseconds of the recording's clock
 * @param end last time
 * @param states names of the states; a span refers to one by index
 * @param stacks the chains that {@code samples} refer to
 */
public record Timeline(
        String title,
        long start,
        long end,
        List<String> states,
        List<Track> tracks,
        Stacks stacks,
        List<Samples> samples)
        implements Result {
    /**
     * One row.
     *
     * @param name "comm tid"
     * @param pid process, -1 when unknown
     * @param tid thread, or CPU number for a CPU's row
     * @param starts start of each span, ascending
     * @param ends end of each span, at most the next start
     * @param spanStates index into {@link Timeline#states}
     */
    public record Track(
            String name, int pid, int tid, long[] starts, long[] ends, byte[] spanStates) {}

    public Timeline {
        states = List.copyOf(states);
        tracks = List.copyOf(tracks);
        samples = List.copyOf(samples);
    }
}
