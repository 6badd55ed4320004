package sonde.event.result;

import java.util.Arrays;

/**
 * Weighted events on the tracks of a timeline, in columns.
 *
 * @param name "on-cpu", "off-cpu", "page-faults"
 * @param unit of the weights
 * @param time of each, ascending; for a span its start
 * @param track index into {@link Timeline#tracks}
 * @param node its chain in {@link Timeline#stacks}, -1 for none
 * @param weight what it stands for; for off-CPU spans their length
 * @param count number of events that each row stands for
 * @param lasts nanoseconds over which the weight is spread: 0 for a moment, the weight for one
 *     span, more where a row stands for several spans
 */
public record TimelineSamples(
        String name,
        Unit unit,
        long[] time,
        int[] track,
        int[] node,
        long[] weight,
        long[] count,
        long[] lasts) {
    /** Moments, one event each. */
    public static TimelineSamples moments(
            String name, Unit unit, long[] time, int[] track, int[] node, long[] weight) {
        return new TimelineSamples(
                name, unit, time, track, node, weight, ones(time), new long[time.length]);
    }

    /** Spans, one event each; the weights are their lengths. */
    public static TimelineSamples spans(
            String name, long[] time, int[] track, int[] node, long[] nanos) {
        return new TimelineSamples(name, Unit.NANOS, time, track, node, nanos, ones(time), nanos);
    }

    private static long[] ones(long[] rows) {
        long[] ones = new long[rows.length];
        Arrays.fill(ones, 1);
        return ones;
    }

    /** Whether any row has a length in time. */
    public boolean hasSpans() {
        return Arrays.stream(lasts).anyMatch(nanos -> nanos > 0);
    }
}
