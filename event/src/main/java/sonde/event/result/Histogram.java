package sonde.event.result;

import java.util.List;

/**
 * How often values fell into ranges.
 *
 * @param unit of the values
 * @param buckets ascending, without gaps in the ranges that matter
 */
public record Histogram(String title, Unit unit, List<Bucket> buckets) implements Result {
    /**
     * One range.
     *
     * @param from inclusive
     * @param to exclusive
     */
    public record Bucket(long from, long to, long count) {}

    public Histogram {
        buckets = List.copyOf(buckets);
    }
}
