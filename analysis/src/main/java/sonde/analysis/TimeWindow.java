package sonde.analysis;

/**
 * The part of a recording that counts.
 *
 * @param from first time, nanoseconds of the recording's clock
 * @param to time after the last
 */
public record TimeWindow(long from, long to) {
    /** Everything. */
    public static final TimeWindow ALL = new TimeWindow(Long.MIN_VALUE, Long.MAX_VALUE);

    /**
     * How far beyond the recorder's own times rows may lie that it asked for or was still given.
     */
    private static final long SLACK_NANOS = 60_000_000_000L;

    /**
     * The part of this that lies in a recording: a row of a damaged record may have any time.
     *
     * @param start when the recorder began
     * @param end when it ended, not after {@code start} when that is not known
     */
    public TimeWindow within(long start, long end) {
        return new TimeWindow(
                Math.max(from, start - SLACK_NANOS),
                end <= start ? to : Math.min(to, end + SLACK_NANOS));
    }

    /** Whether a time counts. */
    public boolean contains(long time) {
        return time >= from && time < to;
    }

    /** How much of a span counts, nanoseconds. */
    public long overlap(long start, long end) {
        return Math.max(0, Math.min(end, to) - Math.max(start, from));
    }
}
