package sonde.store.table;

import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.store.duckdb.ColumnType;
import sonde.store.duckdb.ColumnVector;
import sonde.store.table.EventScan.SharedLane;

/** Fills a column from rows of batches of one source. For one thread. */
@FunctionalInterface
interface ColumnFiller {
    /** Fills {@code out} from {@code at} on with {@code count} rows. */
    void fill(Batch batch, int[] rows, int count, ColumnVector out, int at);

    /** For a column that nobody reads. */
    ColumnFiller NOTHING = (batch, rows, count, out, at) -> {};

    /** The filler of a column from a lane's source. */
    static ColumnFiller of(EventTable table, EventColumn column, SharedLane lane) {
        return switch (column.part()) {
            case TS -> {
                long shift = lane.trace.shiftNanos();
                yield (batch, rows, count, out, at) -> {
                    for (int i = 0; i < count; i++) {
                        out.setLong(at + i, batch.time(rows[i]) + shift);
                    }
                };
            }
            case CPU -> orNull(Batch::cpu);
            case TID -> orNull(Batch::tid);
            case PID -> orNull(Batch::pid);
            case UTID -> {
                UniqueThreadIds utids = table.utids();
                int trace = lane.trace.id();
                yield orNull((batch, row) -> utids.of(trace, batch.tid(row), batch.time(row)));
            }
            case NAME -> name(table, column.type(), lane);
            case WEIGHT ->
                    (batch, rows, count, out, at) -> {
                        for (int i = 0; i < count; i++) {
                            out.setLong(at + i, batch.weight(rows[i]));
                        }
                    };
            case SOURCE -> constant(table.sourceLabel(lane.source), column.type().widthBytes());
            case TRACE -> constant(lane.trace.id(), column.type().widthBytes());
            case FIELD -> field(column, table, lane);
        };
    }

    /** An integer of a row, -1 for none. */
    @FunctionalInterface
    interface RowInteger {
        int of(Batch batch, int row);
    }

    private static ColumnFiller orNull(RowInteger value) {
        return (batch, rows, count, out, at) -> {
            for (int i = 0; i < count; i++) {
                int number = value.of(batch, rows[i]);
                if (number < 0) {
                    out.setNull(at + i);
                } else {
                    out.setInt(at + i, number);
                }
            }
        };
    }

    private static ColumnFiller name(EventTable table, ColumnType type, SharedLane lane) {
        int[] labels = new int[lane.source.types().size()];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = table.label(lane.source.types().get(i));
        }
        int width = type.widthBytes();
        return (batch, rows, count, out, at) -> {
            for (int i = 0; i < count; i++) {
                put(out, at + i, labels[batch.type(rows[i])], width);
            }
        };
    }

    private static ColumnFiller constant(int value, int width) {
        return (batch, rows, count, out, at) -> {
            for (int i = 0; i < count; i++) {
                put(out, at + i, value, width);
            }
        };
    }

    private static void put(ColumnVector out, int row, int value, int width) {
        switch (width) {
            case 1 -> out.setByte(row, value);
            case 2 -> out.setShort(row, value);
            default -> out.setInt(row, value);
        }
    }

    private static ColumnFiller field(EventColumn column, EventTable table, SharedLane lane) {
        @Nullable FieldReader[] readers = new FieldReader[lane.source.types().size()];
        for (int i = 0; i < readers.length; i++) {
            EventType type = lane.source.types().get(i);
            if (table.has(type)) {
                Field field = type.field(column.field()).orElse(null);
                readers[i] =
                        field == null ? FieldReader.NULL : FieldReader.of(field, column.type());
            }
        }
        return (batch, rows, count, out, at) -> {
            for (int i = 0; i < count; i++) {
                FieldReader reader = readers[batch.type(rows[i])];
                if (reader != null) {
                    reader.read(batch, rows[i], out, at + i);
                }
            }
        };
    }
}
