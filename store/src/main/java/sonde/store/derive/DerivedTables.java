package sonde.store.derive;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import sonde.analysis.ThreadTable;
import sonde.store.derive.TablePass.PassOutcome;
import sonde.store.duckdb.SqlConnection;
import sonde.store.duckdb.SqlDatabase;
import sonde.store.duckdb.TableFunction;
import sonde.store.duckdb.TableFunction.FunctionColumn;
import sonde.store.duckdb.TableFunction.TableScan;
import sonde.store.index.ColumnIndex;
import sonde.store.table.UniqueThreadIds;

/** Fills derived tables when statements first name them, and knows whose number is which. */
public final class DerivedTables implements UniqueThreadIds {
    /** Shorter passes cost less than keeping what they find. */
    private static final long WORTH_KEEPING_NANOS = 300_000_000L;

    private final List<TraceInput> inputs;
    private final SqlConnection connection;
    private final @Nullable ColumnIndex index;
    private final Set<DerivedTable> fresh = EnumSet.noneOf(DerivedTable.class);
    private final Set<DerivedTable> filled = EnumSet.noneOf(DerivedTable.class);
    private volatile @Nullable List<ThreadNumbers> numbers;

    /** Nothing is filled yet; {@code connection} is this object's own. */
    public DerivedTables(
            List<TraceInput> inputs, SqlConnection connection, @Nullable ColumnIndex index) {
        this.inputs = List.copyOf(inputs);
        this.connection = connection;
        this.index = index;
    }

    /** The threads of one trace by tid: those of equal tid follow each other by birth. */
    private record ThreadNumbers(int firstUtid, int[] starts, int[] members, long[] born) {
        static ThreadNumbers of(ThreadTable threads, int firstUtid) {
            int most = 0;
            for (int i = 0; i < threads.size(); i++) {
                most = Math.max(most, threads.tid(i));
            }
            int[] starts = new int[most + 2];
            for (int i = 0; i < threads.size(); i++) {
                starts[threads.tid(i) + 1]++;
            }
            for (int tid = 0; tid <= most; tid++) {
                starts[tid + 1] += starts[tid];
            }
            int[] next = starts.clone();
            int[] members = new int[threads.size()];
            long[] born = new long[threads.size()];
            for (int i = 0; i < members.length; i++) {
                int place = next[threads.tid(i)]++;
                members[place] = i;
                born[place] = threads.born(i);
            }
            return new ThreadNumbers(firstUtid, starts, members, born);
        }

        int of(int tid, long time) {
            if (tid == 0) {
                return firstUtid;
            }
            if (tid < 0 || tid >= starts.length - 1 || starts[tid] == starts[tid + 1]) {
                return NONE;
            }
            int place = starts[tid + 1] - 1;
            while (place > starts[tid] && born[place] > time) {
                place--;
            }
            return firstUtid + 1 + members[place];
        }
    }

    /** Fills the tables of these that are empty yet. */
    public synchronized void fill(Set<DerivedTable> wanted) throws IOException {
        Set<DerivedTable> missing = EnumSet.noneOf(DerivedTable.class);
        missing.addAll(wanted);
        missing.removeAll(filled);
        if (missing.isEmpty()) {
            return;
        }
        Set<DerivedTable> made = EnumSet.noneOf(DerivedTable.class);
        for (DerivedTable table : missing) {
            if (!load(table)) {
                made.add(table);
            }
        }
        if (!made.isEmpty()) {
            long before = System.nanoTime();
            run(made);
            if (System.nanoTime() - before > WORTH_KEEPING_NANOS) {
                fresh.addAll(made);
            }
        }
        filled.addAll(missing);
    }

    /** Fills a table from the index; false when it is not there, or damaged. */
    private boolean load(DerivedTable table) throws IOException {
        ColumnIndex kept = index;
        if (kept == null || !kept.has(table.table(), Set.copyOf(table.columns()))) {
            return false;
        }
        connection.run("BEGIN");
        try {
            connection.register("sonde_" + table.table(), name -> new KeptTable(table, kept));
            connection.run(
                    "INSERT INTO " + table.table() + " FROM sonde_" + table.table() + "('')");
            connection.run("COMMIT");
            return true;
        } catch (IOException damaged) {
            connection.run("ROLLBACK");
            kept.drop(table.table());
            return false;
        }
    }

    /** Keeps in the index what passes over the recordings found. */
    public synchronized void keep(SqlDatabase database) {
        ColumnIndex kept = index;
        if (kept != null) {
            for (DerivedTable table : fresh) {
                String order = table.columns().contains("ts") ? "ts" : table.columns().getFirst();
                kept.write(
                        table.table(),
                        new FilledTable(table, database),
                        Set.copyOf(table.columns()),
                        order);
            }
        }
        fresh.clear();
    }

    private static List<FunctionColumn> columns(DerivedTable table) {
        List<FunctionColumn> columns = new ArrayList<>();
        for (int i = 0; i < table.columns().size(); i++) {
            columns.add(new FunctionColumn(table.columns().get(i), table.types().get(i)));
        }
        return columns;
    }

    private static List<String> names(DerivedTable table, int[] wanted) {
        List<String> names = new ArrayList<>();
        for (int number : wanted) {
            names.add(table.columns().get(number < table.columns().size() ? number : 0));
        }
        return names;
    }

    /** A table as it lies in the index. */
    private record KeptTable(DerivedTable table, ColumnIndex index)
            implements TableFunction.ScannedTable {
        @Override
        public List<FunctionColumn> columns() {
            return DerivedTables.columns(table);
        }

        @Override
        public long rows() {
            return -1;
        }

        @Override
        public TableScan scan(int[] wanted) throws IOException {
            return index.scan(table.table(), names(table, wanted));
        }
    }

    /** A table as it lies in the database of the statements. */
    private record FilledTable(DerivedTable table, SqlDatabase database)
            implements TableFunction.ScannedTable {
        @Override
        public List<FunctionColumn> columns() {
            return DerivedTables.columns(table);
        }

        @Override
        public long rows() {
            return -1;
        }

        @Override
        public TableScan scan(int[] wanted) {
            StringJoiner select = new StringJoiner("\", \"", "SELECT \"", "\" FROM ");
            names(table, wanted).forEach(select::add);
            return ColumnIndex.scan(database, select + table.table());
        }
    }

    private void run(Set<DerivedTable> tables) throws IOException {
        List<ThreadNumbers> found = new ArrayList<>();
        int utid = 0;
        int callsite = 0;
        int caller = 0;
        for (int trace = 0; trace < inputs.size(); trace++) {
            TraceInput input = inputs.get(trace);
            TraceNumbers target =
                    new TraceNumbers(trace, input.shiftNanos(), utid, callsite, caller);
            PassOutcome outcome = TablePass.run(input, target, tables, connection);
            found.add(ThreadNumbers.of(outcome.threads(), utid));
            utid += outcome.threads().size() + 1;
            callsite += outcome.callsites();
            caller += outcome.callers();
        }
        numbers = found;
    }

    @Override
    public synchronized void prepare() throws IOException {
        if (numbers == null) {
            run(Set.of());
        }
    }

    @Override
    public int of(int trace, int tid, long time) {
        List<ThreadNumbers> known = numbers;
        return known == null ? NONE : known.get(trace).of(tid, time);
    }
}
