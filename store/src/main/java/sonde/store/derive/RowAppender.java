package sonde.store.derive;

import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import sonde.store.duckdb.SqlConnection;
import sonde.store.duckdb.SqlException;
import sonde.store.duckdb.TableAppender;

/** Writes rows of one derived table, column after column. */
final class RowAppender implements AutoCloseable {
    private final TableAppender appender;
    private final DerivedTable table;
    private int row;
    private int column;

    RowAppender(SqlConnection connection, DerivedTable table) throws SqlException {
        this.table = table;
        appender = new TableAppender(connection, table.table(), table.types());
    }

    /** Begins a row. */
    RowAppender begin() {
        try {
            row = appender.row();
        } catch (SqlException e) {
            throw new UncheckedIOException(e);
        }
        column = 0;
        return this;
    }

    /** A number. */
    RowAppender add(long value) {
        switch (table.types().get(column).widthBytes()) {
            case 1 -> appender.column(column).setByte(row, (int) value);
            case 4 -> appender.column(column).setInt(row, (int) value);
            default -> appender.column(column).setLong(row, value);
        }
        column++;
        return this;
    }

    /** A number, none when negative. */
    RowAppender orNull(long value) {
        return value < 0 ? none() : add(value);
    }

    /** A floating-point number. */
    RowAppender add(double value) {
        appender.column(column++).setDouble(row, value);
        return this;
    }

    /** A text, or none. */
    RowAppender add(@Nullable String value) {
        if (value == null) {
            return none();
        }
        appender.column(column++).setText(row, value);
        return this;
    }

    /** No value. */
    RowAppender none() {
        appender.column(column++).setNull(row);
        return this;
    }

    @Override
    public void close() throws SqlException {
        appender.close();
    }
}
