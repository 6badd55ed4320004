package sonde.event.result;

import java.util.List;

/**
 * What a timeline shows besides the threads.
 *
 * @param cpus what ran on each CPU, by number
 * @param marks single events, a lane for each event type
 * @param lost a sentence about events that are missing; empty when none is known to be
 */
public record TimelineLanes(List<CpuLane> cpus, List<MarkLane> marks, String lost) {
    /** Nothing besides the threads. */
    public static final TimelineLanes NONE = new TimelineLanes(List.of(), List.of(), "");

    public TimelineLanes {
        cpus = List.copyOf(cpus);
        marks = List.copyOf(marks);
    }

    /**
     * A CPU.
     *
     * @param starts start of each span, ascending
     * @param ends end of each span, at most the next start
     * @param busy nanoseconds of each span in which a thread that is shown ran
     * @param track index into {@link Timeline#tracks} of the thread that ran longest in it
     */
    public record CpuLane(int cpu, long[] starts, long[] ends, long[] busy, int[] track) {}

    /**
     * The events of a type.
     *
     * @param event its qualified name
     * @param count of all events; with more than a page can hold, some are not among the marks
     * @param time of each mark, ascending
     * @param track index into {@link Timeline#tracks}, -1 for none
     * @param texts what each event says
     */
    public record MarkLane(
            String event, long count, long[] time, int[] track, List<String> texts) {}
}
