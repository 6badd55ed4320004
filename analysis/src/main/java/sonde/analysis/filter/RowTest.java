package sonde.analysis.filter;

import sonde.event.Batch;

/** A filter made for one event type. */
@FunctionalInterface
public interface RowTest {
    /** Whether the row, which is of that type, passes. */
    boolean test(Batch batch, int row);
}
