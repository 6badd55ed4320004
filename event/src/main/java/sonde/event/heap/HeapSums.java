package sonde.event.heap;

/**
 * What was allocated from one place, or in all. {@link #UNKNOWN} stands for a number that the
 * source cannot tell.
 *
 * @param calls that allocated; a realloc counts as one and frees the old block
 * @param bytes that were asked for, in all
 * @param liveBlocks not freed at the end
 * @param peakBlocks not freed at the moment at which the whole heap had most bytes
 * @param temporary blocks freed by the thread that made them, before it made another one
 * @param oldestNanos age of the oldest live block at the end
 */
public record HeapSums(
        long calls,
        long bytes,
        long liveBlocks,
        long liveBytes,
        long peakBlocks,
        long peakBytes,
        long temporary,
        long oldestNanos) {
    /** The value of a number that is not known. */
    public static final long UNKNOWN = -1;

    /** Nothing was allocated. */
    public static final HeapSums NONE = new HeapSums(0, 0, 0, 0, 0, 0, 0, UNKNOWN);

    /** Both together; a number that one of them does not know stays unknown. */
    public HeapSums plus(HeapSums other) {
        return new HeapSums(
                sum(calls, other.calls),
                sum(bytes, other.bytes),
                sum(liveBlocks, other.liveBlocks),
                sum(liveBytes, other.liveBytes),
                sum(peakBlocks, other.peakBlocks),
                sum(peakBytes, other.peakBytes),
                sum(temporary, other.temporary),
                Math.max(oldestNanos, other.oldestNanos));
    }

    /** A sum; it stops at the largest number, because files may claim anything. */
    public static long sum(long one, long other) {
        long sum = one + other;
        boolean unknown = one == UNKNOWN || other == UNKNOWN;
        return unknown ? UNKNOWN : one > 0 && other > 0 && sum < 0 ? Long.MAX_VALUE : sum;
    }

    /** A product of numbers that are not negative; it stops at the largest number. */
    public static long times(long one, long other) {
        return Math.multiplyHigh(one, other) == 0 && one * other >= 0
                ? one * other
                : Long.MAX_VALUE;
    }
}
