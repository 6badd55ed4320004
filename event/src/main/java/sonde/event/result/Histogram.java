package sonde.event.result;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How often values fell into ranges.
 *
 * @param unit of the values
 * @param signed whether bounds have a sign; without, one of 64 bits is below 0 here
 * @param buckets ascending, without gaps in the ranges that matter
 */
public record Histogram(String title, Unit unit, boolean signed, List<Bucket> buckets)
        implements Result {
    /**
     * An end of a range.
     *
     * @param label how it is written; empty for the renderer's own way
     */
    public record Bound(long number, String label) {}

    /**
     * One range.
     *
     * @param from inclusive; null where the range has no begin
     * @param to exclusive; null where it has no end
     */
    public record Bucket(@Nullable Bound from, @Nullable Bound to, long count) {
        /** A range between numbers. */
        public Bucket(long from, long to, long count) {
            this(new Bound(from, ""), new Bound(to, ""), count);
        }
    }

    public Histogram {
        buckets = List.copyOf(buckets);
    }

    /** A histogram of signed values. */
    public Histogram(String title, Unit unit, List<Bucket> buckets) {
        this(title, unit, true, buckets);
    }
}
