package sonde.event.heap;

/**
 * The heap at one time.
 *
 * @param nanos since the begin of the observation; of another clock where {@link
 *     HeapProfile#timeUnit} says so
 * @param liveBytes asked for and not freed
 * @param liveBlocks {@link HeapSums#UNKNOWN} where the source does not count blocks
 * @param residentBytes of the process, with everything; {@link HeapSums#UNKNOWN} where not read
 */
public record HeapMoment(long nanos, long liveBytes, long liveBlocks, long residentBytes) {}
