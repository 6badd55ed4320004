package sonde.analysis;

/**
 * The part of a recording that counts.
 *
 * @param from first time, nanoseconds of the recording's clock
 * @param to time after the last
 */
public record Window(long from, long to) {
    /** Everything. */
    public static final Window ALL = new Window(Long.MIN_VALUE, Long.MAX_VALUE);

    /** Whether a time counts. */
    public boolean contains(long time) {
        return time >= from && time < to;
    }

    /** How much of a span counts, nanoseconds. */
    public long overlap(long start, long end) {
        return Math.max(0, Math.min(end, to) - Math.max(start, from));
    }
}
