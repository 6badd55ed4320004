package sonde.store.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import sonde.store.duckdb.TableFunction;
import sonde.store.duckdb.TableFunction.FunctionColumn;
import sonde.store.duckdb.TableFunction.TableScan;
import sonde.store.table.EventTable;

/** A table of events that is read from the index where that has the columns. */
public final class IndexedTable implements TableFunction.ScannedTable {
    private final EventTable events;
    private final ColumnIndex index;
    private final Set<String> missed = ConcurrentHashMap.newKeySet();

    /** The table and where it may lie. */
    public IndexedTable(EventTable events, ColumnIndex index) {
        this.events = events;
        this.index = index;
    }

    @Override
    public List<FunctionColumn> columns() {
        return events.columns();
    }

    @Override
    public long rows() {
        return events.rows();
    }

    @Override
    public TableScan scan(int[] wanted) throws IOException {
        List<String> names = new ArrayList<>();
        for (int number : wanted) {
            boolean real = number < events.columns().size();
            names.add(events.columns().get(real ? number : 0).name());
        }
        if (index.has(events.name(), Set.copyOf(names))) {
            boolean counts = names.size() == 1 && wanted[0] >= events.columns().size();
            if (!counts) {
                return index.scan(events.name(), names);
            }
        }
        missed.addAll(names);
        return events.scan(wanted);
    }

    /**
     * Keeps what statements read from the recording.
     *
     * @param leastRows of a table that is worth it
     */
    public void keep(long leastRows) {
        long most = events.decoded().values().stream().mapToLong(Long::longValue).max().orElse(0);
        if (!missed.isEmpty() && most >= leastRows) {
            index.write(events.name(), events, Set.copyOf(missed), "ts");
        }
        missed.clear();
    }
}
