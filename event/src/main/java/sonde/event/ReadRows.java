package sonde.event;

import java.util.concurrent.atomic.LongAdder;

/** How many rows this process has read from recordings, for a line that says how far it is. */
public final class ReadRows {
    private static final LongAdder ROWS = new LongAdder();

    private ReadRows() {}

    /** Counts the rows of a batch. */
    public static void add(Batch batch) {
        ROWS.add(batch.size());
    }

    /** The rows so far; those that are read twice count twice. */
    public static long count() {
        return ROWS.sum();
    }
}
