package sonde.store.duckdb;

import java.util.List;

/** Rows that DuckDB asks for while it runs a statement. Called by any of DuckDB's threads. */
@FunctionalInterface
public interface TableFunction {
    /**
     * A column.
     *
     * @param name as SQL knows it
     */
    record FunctionColumn(String name, ColumnType type) {}

    /** A table that a statement names. */
    interface ScannedTable {
        /** Its columns. */
        List<FunctionColumn> columns();

        /** About how many rows it has, -1 when nobody knows. */
        long rows();

        /**
         * Begins to read it.
         *
         * @param columns which are wanted, by number, in the order of the vectors to be filled; a
         *     number beyond the columns stands for no column, its vector is not read
         */
        TableScan scan(int[] columns) throws Exception;
    }

    /** One reading of a table. */
    interface TableScan extends AutoCloseable {
        /** How many workers may run at once. */
        int threads();

        /** Another worker; workers share the rows. */
        ScanWorker worker() throws Exception;

        @Override
        void close();
    }

    /** Part of a reading, of one thread at a time. */
    interface ScanWorker extends AutoCloseable {
        /**
         * Fills the wanted columns.
         *
         * @return rows filled, at most {@link ColumnVector#CAPACITY}; 0 at the end
         */
        int fill(ColumnVector[] out) throws Exception;

        @Override
        void close();
    }

    /**
     * The table of that name.
     *
     * @throws Exception whose message the statement's author sees
     */
    ScannedTable bind(String argument) throws Exception;
}
