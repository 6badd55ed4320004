package sonde.store.derive;

import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import sonde.store.duckdb.Appender;
import sonde.store.duckdb.Connection;
import sonde.store.duckdb.SqlException;

/** Writes rows of one derived table, column after column. */
final class Row implements AutoCloseable {
    private final Appender appender;
    private final Derived table;
    private int row;
    private int column;

    Row(Connection connection, Derived table) throws SqlException {
        this.table = table;
        appender = new Appender(connection, table.table(), table.types());
    }

    /** Begins a row. */
    Row begin() {
        try {
            row = appender.row();
        } catch (SqlException e) {
            throw new UncheckedIOException(e);
        }
        column = 0;
        return this;
    }

    /** A number. */
    Row add(long value) {
        switch (table.types().get(column).widthBytes()) {
            case 1 -> appender.column(column).setByte(row, (int) value);
            case 4 -> appender.column(column).setInt(row, (int) value);
            default -> appender.column(column).setLong(row, value);
        }
        column++;
        return this;
    }

    /** A number, none when negative. */
    Row orNull(long value) {
        return value < 0 ? none() : add(value);
    }

    /** A floating-point number. */
    Row add(double value) {
        appender.column(column++).setDouble(row, value);
        return this;
    }

    /** A text, or none. */
    Row add(@Nullable String value) {
        if (value == null) {
            return none();
        }
        appender.column(column++).setText(row, value);
        return this;
    }

    /** No value. */
    Row none() {
        appender.column(column++).setNull(row);
        return this;
    }

    @Override
    public void close() throws SqlException {
        appender.close();
    }
}
