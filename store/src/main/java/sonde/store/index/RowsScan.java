package sonde.store.index;

import org.jspecify.annotations.Nullable;
import sonde.store.duckdb.ColumnVector;
import sonde.store.duckdb.QueryRows;
import sonde.store.duckdb.SqlConnection;
import sonde.store.duckdb.SqlDatabase;
import sonde.store.duckdb.SqlException;
import sonde.store.duckdb.TableFunction;
import sonde.store.duckdb.TableFunction.ScanWorker;

/** The rows of a statement of one database, handed to another one chunk by chunk. */
final class RowsScan implements TableFunction.TableScan, TableFunction.ScanWorker {
    private final SqlDatabase from;
    private final String sql;
    private @Nullable SqlConnection connection;
    private @Nullable QueryRows rows;
    private boolean taken;

    RowsScan(SqlDatabase from, String sql) {
        this.from = from;
        this.sql = sql;
    }

    @Override
    public int threads() {
        return 1;
    }

    @Override
    public ScanWorker worker() {
        return this;
    }

    @Override
    public synchronized int fill(ColumnVector[] out) throws SqlException {
        QueryRows open = rows;
        if (open == null) {
            if (taken) {
                return 0;
            }
            taken = true;
            SqlConnection made = from.connect();
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
        QueryRows open = rows;
        if (open != null) {
            open.close();
        }
        SqlConnection made = connection;
        if (made != null) {
            made.close();
        }
        rows = null;
        connection = null;
    }
}
