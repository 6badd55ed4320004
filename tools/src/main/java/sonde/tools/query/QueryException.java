package sonde.tools.query;

import java.io.IOException;

/** A statement that is wrong, in DuckDB's words; one or two lines. */
public final class QueryException extends IOException {
    private static final long serialVersionUID = 1;

    /** With what is wrong and, after a line end, where. */
    public QueryException(String message) {
        super(message);
    }
}
