package sonde.event.result;

/**
 * Weighted events on the tracks of a timeline, in columns.
 *
 * @param name "on-cpu", "off-cpu", "page-faults"
 * @param unit of the weights
 * @param time of each, ascending; for a span its start
 * @param track index into {@link Timeline#tracks}
 * @param node its chain in {@link Timeline#stacks}, -1 for none
 * @param weight what it stands for; for off-CPU spans their length
 */
public record Samples(
        String name, Unit unit, long[] time, int[] track, int[] node, long[] weight) {}
