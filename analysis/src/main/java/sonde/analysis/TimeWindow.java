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
     * The time that a recorder says it recorded.
     *
     * @param end not after {@code start} when it is not known
     */
    public static TimeWindow recorded(long start, long end) {
        return new TimeWindow(start, end <= start ? Long.MAX_VALUE : end);
    }

    /**
     * The part of this that may lie in a recording: a row of a damaged record may have any time.
     */
    public TimeWindow within(TimeWindow recorded) {
        return new TimeWindow(
                Math.max(from, recorded.from - SLACK_NANOS),
                recorded.to == Long.MAX_VALUE ? to : Math.min(to, recorded.to + SLACK_NANOS));
    }

    /** A time of a row of this recording; the end next to it for a time that is none. */
    public long nearest(long time) {
        if (time < from && time + SLACK_NANOS < from) {
            return from;
        }
        return time > to && time - SLACK_NANOS > to ? to : time;
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
