package sonde.tools.query;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import sonde.event.result.RowStream;
import sonde.store.duckdb.QueryRows;
import sonde.store.duckdb.SqlException;

/**
 * The rows of a statement that runs.
 *
 * @param isJson whether every value is a text of JSON
 */
record StatementRows(QueryRecipe query, QueryRows rows, boolean isJson)
        implements RowStream.RowCursor {
    @Override
    public int next() throws IOException {
        try {
            return rows.next();
        } catch (SqlException e) {
            throw query.wrong(e);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Override
    public @Nullable Object value(int column, int row) {
        return rows.value(column, row);
    }

    @Override
    public void close() {
        rows.close();
    }
}
