package sonde.store.index;

import org.jspecify.annotations.Nullable;
import sonde.store.duckdb.Connection;
import sonde.store.duckdb.Database;
import sonde.store.duckdb.Rows;
import sonde.store.duckdb.SqlException;
import sonde.store.duckdb.TableFunction;
import sonde.store.duckdb.Vector;

/** The rows of a statement of one database, handed to another one chunk by chunk. */
final class RowsScan implements TableFunction.Scan, TableFunction.Worker {
    private final Database from;
    private final String sql;
    private @Nullable Connection connection;
    private @Nullable Rows rows;
    private boolean taken;

    RowsScan(Database from, String sql) {
        this.from = from;
        this.sql = sql;
    }

    @Override
    public int threads() {
        return 1;
    }

    @Override
    public TableFunction.Worker worker() {
        return this;
    }

    @Override
    public synchronized int fill(Vector[] out) throws SqlException {
        Rows open = rows;
        if (open == null) {
            if (taken) {
                return 0;
            }
            taken = true;
            Connection made = from.connect();
            connection = made;
            open = made.query(sql);
            rows = open;
        }
        int size = open.next();
        for (int i = 0; i < out.length && size > 0; i++) {
            open.copy(i, size, out[i]);
        }
        return size;
    }

    @Override
    public synchronized void close() {
        Rows open = rows;
        if (open != null) {
            open.close();
        }
        Connection made = connection;
        if (made != null) {
            made.close();
        }
        rows = null;
        connection = null;
    }
}
