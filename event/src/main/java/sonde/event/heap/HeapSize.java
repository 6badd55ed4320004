package sonde.event.heap;

/**
 * Blocks of a range of sizes.
 *
 * @param from least bytes
 * @param to most bytes
 * @param calls that asked for such a size
 * @param liveBlocks of them that are not freed; {@link HeapSums#UNKNOWN} where not known
 */
public record HeapSize(long from, long to, long calls, long liveBlocks) {}
