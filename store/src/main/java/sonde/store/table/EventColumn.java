package sonde.store.table;

import java.util.concurrent.atomic.LongAdder;
import sonde.store.duckdb.ColumnType;

/**
 * A column of a table of events: the same of every row, or a field of the payload.
 *
 * @param name as SQL knows it
 * @param part what it shows
 * @param field name of the field with {@link ColumnContent#FIELD}, else empty
 * @param decoded how many values were read for statements so far
 */
record EventColumn(
        String name, ColumnType type, ColumnContent part, String field, LongAdder decoded) {
    /** What a column shows. */
    enum ColumnContent {
        TS,
        CPU,
        UTID,
        TID,
        PID,
        NAME,
        SOURCE,
        WEIGHT,
        TRACE,
        FIELD
    }

    static EventColumn of(String name, ColumnType type, ColumnContent part) {
        return new EventColumn(name, type, part, "", new LongAdder());
    }

    static EventColumn ofField(String name, ColumnType type, String field) {
        return new EventColumn(name, type, ColumnContent.FIELD, field, new LongAdder());
    }
}
