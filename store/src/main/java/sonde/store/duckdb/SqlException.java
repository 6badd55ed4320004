package sonde.store.duckdb;

import java.io.IOException;

/** What DuckDB says is wrong with a statement, in its own words and with its own position. */
public final class SqlException extends IOException {
    private static final long serialVersionUID = 1;

    /** With DuckDB's message: a line that says what, then perhaps the place in the statement. */
    public SqlException(String message) {
        super(message);
    }
}
