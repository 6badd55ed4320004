package sonde.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.store.derive.DerivedTable;
import sonde.store.derive.DerivedTables;
import sonde.store.derive.TraceInput;
import sonde.store.duckdb.QueryRows;
import sonde.store.duckdb.SqlConnection;
import sonde.store.duckdb.SqlDatabase;
import sonde.store.duckdb.SqlException;
import sonde.store.duckdb.TableFunction.ScannedTable;
import sonde.store.index.ColumnIndex;
import sonde.store.index.IndexedTable;
import sonde.store.table.EventTable;
import sonde.store.table.StoredTrace;

/**
 * Recordings as tables of an SQL engine.
 *
 * <p>Tables of events are read from the recordings while a statement runs, and only the columns it
 * names; derived tables are filled when a statement first names them. Statements cannot reach files
 * other than those in {@link StoreOptions#files}, and cannot change that.
 */
public final class RecordingStore implements AutoCloseable {
    private static final String FUNCTION = "sonde_events";

    private final SqlDatabase database;
    private final SqlConnection connection;
    private final SqlConnection filling;
    private final DerivedTables derivations;
    private final List<StoredTrace> traces = new ArrayList<>();

    /** Names of tables of events by their lower-case form, as DuckDB compares them. */
    private final Map<String, String> eventNames = new TreeMap<>();

    private final Map<String, EventTable> tables = new LinkedHashMap<>();
    private final Map<String, IndexedTable> indexed = new LinkedHashMap<>();
    private final @Nullable ColumnIndex index;

    /** Values read of a table below which keeping it would save nothing to be felt. */
    private static final long WORTH_KEEPING = 200_000;

    /**
     * What a store may use.
     *
     * @param memoryMegabytes of DuckDB; what needs more goes through {@code scratch}
     * @param scratch folder for what does not fit into memory
     * @param files that statements may read and write, absolute
     * @param index folder where tables are kept for the next time, null for none
     */
    public record StoreOptions(
            int memoryMegabytes, Path scratch, List<Path> files, @Nullable Path index) {
        public StoreOptions {
            files = List.copyOf(files);
        }
    }

    private RecordingStore(SqlDatabase database, List<TraceInput> inputs, @Nullable Path kept)
            throws SqlException {
        this.database = database;
        index = kept == null ? null : ColumnIndex.in(kept);
        connection = database.connect();
        filling = database.connect();
        derivations = new DerivedTables(inputs, filling, index);
        for (int i = 0; i < inputs.size(); i++) {
            TraceInput input = inputs.get(i);
            traces.add(new StoredTrace(i, input.name(), input.recordings(), input.shiftNanos()));
        }
        EventTable.names(traces).forEach(name -> eventNames.putIfAbsent(lower(name), name));
        eventNames.put("events", "events");
    }

    /**
     * Opens recordings, which stay the caller's.
     *
     * @throws IOException when the engine cannot be loaded
     */
    public static RecordingStore open(List<TraceInput> inputs, StoreOptions options)
            throws IOException {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("memory_limit", options.memoryMegabytes + "MB");
        settings.put("temp_directory", options.scratch.toString());
        settings.put("autoinstall_known_extensions", "false");
        settings.put("autoload_known_extensions", "false");
        RecordingStore store =
                new RecordingStore(SqlDatabase.open(settings), inputs, options.index);
        try {
            store.prepare(options);
            return store;
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
    }

    private void prepare(StoreOptions options) throws IOException {
        connection.register(FUNCTION, this::table);
        database.replaceNames(this::replacement);
        StringBuilder setup = new StringBuilder("BEGIN;");
        for (DerivedTable table : DerivedTable.values()) {
            setup.append(table.create()).append(';');
        }
        setup.append(traceTable()).append("COMMIT;").append(resource("macros.sql"));
        connection.run(setup.toString());
        StringJoiner allowed = new StringJoiner(", ", "SET allowed_paths = [", "]");
        options.files.forEach(file -> allowed.add(quoted(file.toString())));
        connection.run(
                allowed
                        + "; SET enable_external_access = false;"
                        + " SET lock_configuration = true");
    }

    private String traceTable() {
        StringBuilder text =
                new StringBuilder(
                        "CREATE TABLE trace (trace_id INTEGER, name VARCHAR, shift BIGINT);");
        for (StoredTrace trace : traces) {
            text.append("INSERT INTO trace VALUES (")
                    .append(trace.id())
                    .append(", ")
                    .append(quoted(trace.name()))
                    .append(", ")
                    .append(trace.shiftNanos())
                    .append(");");
        }
        return text.toString();
    }

    private static String resource(String name) throws IOException {
        try (InputStream in =
                Objects.requireNonNull(RecordingStore.class.getResourceAsStream(name))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** A text as SQL writes it. */
    public static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }

    private Optional<SqlDatabase.Replacement> replacement(String name) {
        String found = eventNames.get(lower(name));
        return found == null
                ? Optional.empty()
                : Optional.of(new SqlDatabase.Replacement(FUNCTION, found));
    }

    private ScannedTable table(String name) throws SqlException {
        String known = eventNames.get(lower(name));
        if (known == null) {
            throw new SqlException("no event type is called " + name);
        }
        synchronized (tables) {
            EventTable table =
                    tables.computeIfAbsent(
                            known,
                            wanted ->
                                    wanted.equals("events")
                                            ? EventTable.all(traces, derivations)
                                            : EventTable.of(wanted, traces, derivations));
            ColumnIndex kept = index;
            return kept == null
                    ? table
                    : indexed.computeIfAbsent(known, ignored -> new IndexedTable(table, kept));
        }
    }

    /**
     * Runs statements and gives the rows of the last one.
     *
     * @throws SqlException when a statement is wrong
     * @throws IOException when a recording cannot be read
     */
    public QueryRows query(String sql) throws IOException {
        derivations.fill(named(sql));
        return connection.query(sql);
    }

    private Set<DerivedTable> named(String sql) {
        Set<DerivedTable> found = EnumSet.noneOf(DerivedTable.class);
        SqlIdentifiers words = SqlIdentifiers.of(sql);
        List<String> names = connection.tableNames(sql);
        for (String name : names.isEmpty() ? words.all() : names) {
            DerivedTable.named(name).ifPresent(found::add);
        }
        for (String word : words.all()) {
            found.addAll(SqlMacros.tables(word));
        }
        return found;
    }

    /** Why a recording could not be read on while a statement ran; null when it could. */
    public @Nullable IOException failure() {
        synchronized (tables) {
            return tables.values().stream()
                    .map(EventTable::failure)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElse(null);
        }
    }

    /** Ends the statement that runs; may be called by any thread. */
    public void interrupt() {
        connection.interrupt();
    }

    /** Every table that statements can name: derived ones first, then events. */
    public List<String> tableNames() {
        List<String> names = new ArrayList<>();
        for (DerivedTable table : DerivedTable.values()) {
            names.add(table.table());
        }
        names.add("trace");
        names.add("events");
        eventNames.values().stream().filter(name -> !name.equals("events")).forEach(names::add);
        return names;
    }

    /** How many values statements had decoded so far, by table, then column. */
    public Map<String, Map<String, Long>> decoded() {
        synchronized (tables) {
            Map<String, Map<String, Long>> counts = new LinkedHashMap<>();
            tables.forEach((name, table) -> counts.put(name, table.decoded()));
            return counts;
        }
    }

    /**
     * Keeps what the statements so far read from recordings in the index, so that the next one need
     * not. To be called when the rows of a statement have been written.
     */
    public void keep() {
        synchronized (tables) {
            indexed.values().forEach(table -> table.keep(WORTH_KEEPING));
        }
        derivations.keep(database);
    }

    @Override
    public void close() {
        ColumnIndex kept = index;
        if (kept != null) {
            kept.close();
        }
        filling.close();
        connection.close();
        database.close();
    }
}
