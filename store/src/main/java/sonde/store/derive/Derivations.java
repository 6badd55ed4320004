package sonde.store.derive;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Threads;
import sonde.store.duckdb.Connection;
import sonde.store.duckdb.Database;
import sonde.store.duckdb.TableFunction;
import sonde.store.index.Index;
import sonde.store.table.Utids;

/** Fills derived tables when statements first name them, and knows whose number is which. */
public final class Derivations implements Utids {
    /** Shorter passes cost less than keeping what they find. */
    private static final long WORTH_KEEPING_NANOS = 300_000_000L;

    private final List<TraceInput> inputs;
    private final Connection connection;
    private final @Nullable Index index;
    private final Set<Derived> fresh = EnumSet.noneOf(Derived.class);
    private final Set<Derived> filled = EnumSet.noneOf(Derived.class);
    private volatile @Nullable List<Numbers> numbers;

    /** Nothing is filled yet; {@code connection} is this object's own. */
    public Derivations(List<TraceInput> inputs, Connection connection, @Nullable Index index) {
        this.inputs = List.copyOf(inputs);
        this.connection = connection;
        this.index = index;
    }

    /** The threads of one trace by tid: those of equal tid follow each other by birth. */
    private record Numbers(int firstUtid, int[] starts, int[] members, long[] born) {
        static Numbers of(Threads threads, int firstUtid) {
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
            return new Numbers(firstUtid, starts, members, born);
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
    public synchronized void fill(Set<Derived> wanted) throws IOException {
        Set<Derived> missing = EnumSet.noneOf(Derived.class);
        missing.addAll(wanted);
        missing.removeAll(filled);
        if (missing.isEmpty()) {
            return;
        }
        Set<Derived> made = EnumSet.noneOf(Derived.class);
        for (Derived table : missing) {
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
    private boolean load(Derived table) throws IOException {
        Index kept = index;
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
    public synchronized void keep(Database database) {
        Index kept = index;
        if (kept != null) {
            for (Derived table : fresh) {
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

    private static List<TableFunction.Column> columns(Derived table) {
        List<TableFunction.Column> columns = new ArrayList<>();
        for (int i = 0; i < table.columns().size(); i++) {
            columns.add(new TableFunction.Column(table.columns().get(i), table.types().get(i)));
        }
        return columns;
    }

    private static List<String> names(Derived table, int[] wanted) {
        List<String> names = new ArrayList<>();
        for (int number : wanted) {
            names.add(table.columns().get(number < table.columns().size() ? number : 0));
        }
        return names;
    }

    /** A table as it lies in the index. */
    private record KeptTable(Derived table, Index index) implements TableFunction.Table {
        @Override
        public List<TableFunction.Column> columns() {
            return Derivations.columns(table);
        }

        @Override
        public long rows() {
            return -1;
        }

        @Override
        public TableFunction.Scan scan(int[] wanted) throws IOException {
            return index.scan(table.table(), names(table, wanted));
        }
    }

    /** A table as it lies in the database of the statements. */
    private record FilledTable(Derived table, Database database) implements TableFunction.Table {
        @Override
        public List<TableFunction.Column> columns() {
            return Derivations.columns(table);
        }

        @Override
        public long rows() {
            return -1;
        }

        @Override
        public TableFunction.Scan scan(int[] wanted) {
            StringJoiner select = new StringJoiner("\", \"", "SELECT \"", "\" FROM ");
            names(table, wanted).forEach(select::add);
            return Index.scan(database, select + table.table());
        }
    }

    private void run(Set<Derived> tables) throws IOException {
        List<Numbers> found = new ArrayList<>();
        int utid = 0;
        int callsite = 0;
        int caller = 0;
        for (int trace = 0; trace < inputs.size(); trace++) {
            TraceInput input = inputs.get(trace);
            Target target = new Target(trace, input.shiftNanos(), utid, callsite, caller);
            Derivation.Outcome outcome = Derivation.run(input, target, tables, connection);
            found.add(Numbers.of(outcome.threads(), utid));
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
        List<Numbers> known = numbers;
        return known == null ? NONE : known.get(trace).of(tid, time);
    }
}
