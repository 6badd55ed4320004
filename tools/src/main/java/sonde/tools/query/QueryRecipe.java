package sonde.tools.query;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.analysis.LossAccount;
import sonde.analysis.RecordedLosses;
import sonde.event.result.Column;
import sonde.event.result.RowStream;
import sonde.event.result.Unit;
import sonde.open.ReportSource;
import sonde.probe.launch.PrivateOutput;
import sonde.probe.launch.ScratchFolder;
import sonde.store.RecordingStore;
import sonde.store.RecordingStore.StoreOptions;
import sonde.store.derive.TraceInput;
import sonde.store.duckdb.QueryRows;
import sonde.store.duckdb.QueryRows.QueryColumn;
import sonde.store.duckdb.SqlException;
import sonde.symbol.files.GivenPlaces;
import sonde.tools.report.QueryInput;
import sonde.view.CsvRenderer;
import sonde.view.JsonRenderer;
import sonde.view.TerminalStyle;
import sonde.view.TextRenderer;

/** Recordings that are open for SQL. */
public final class QueryRecipe implements AutoCloseable {
    private static final int MEMORY_MEGABYTES = 1200;

    private final List<ReportSource> sources = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final ScratchFolder scratch = ScratchFolder.temporary("query");
    private final @Nullable PrivateOutput output;
    private @Nullable RecordingStore store;

    private QueryRecipe(@Nullable PrivateOutput output) throws IOException {
        this.output = output;
    }

    /**
     * Opens recordings.
     *
     * @param output the only file that a statement may write, or null
     * @param cached whether tables may be kept for the next time, and taken from the last
     * @throws IOException when one of them cannot be read
     */
    public static QueryRecipe open(List<Path> files, @Nullable Path output, boolean cached)
            throws IOException {
        PrivateOutput file = output == null ? null : PrivateOutput.of(output, true);
        return open(files, GivenPlaces.NONE, file, cached);
    }

    /**
     * As above, with symbols from where the user said, too: with files of theirs nothing is kept.
     * The output is closed with this.
     */
    public static QueryRecipe open(
            List<Path> files, GivenPlaces given, @Nullable PrivateOutput output, boolean cached)
            throws IOException {
        QueryRecipe recipe = new QueryRecipe(output);
        try {
            for (Path file : files) {
                recipe.sources.add(ReportSource.open(file, given));
            }
            recipe.start(cached ? IndexFolder.of(files, given) : null);
            return recipe;
        } catch (IOException | RuntimeException e) {
            recipe.close();
            throw e;
        }
    }

    private void start(@Nullable Path index) throws IOException {
        TimeAxis axis = TimeAxis.of(sources);
        notes.addAll(axis.notes());
        List<TraceInput> inputs = new ArrayList<>();
        for (int i = 0; i < sources.size(); i++) {
            inputs.add(QueryInput.of(sources.get(i), axis.shifts().get(i)));
        }
        PrivateOutput written = output;
        List<Path> allowed = written == null ? List.of() : List.of(written.path());
        store =
                RecordingStore.open(
                        inputs, new StoreOptions(MEMORY_MEGABYTES, scratch.path(), allowed, index));
    }

    private RecordingStore store() {
        RecordingStore open = store;
        if (open == null) {
            throw new IllegalStateException("not open");
        }
        return open;
    }

    /** What is to be known about the recordings and their clocks. */
    public List<String> notes() {
        List<String> all = new ArrayList<>(notes);
        for (ReportSource source : sources) {
            all.addAll(source.notes());
            String whose = sources.size() > 1 ? source.name() + ": " : "";
            new LossAccount(new RecordedLosses(), source.losses())
                    .sentence()
                    .ifPresent(lost -> all.add(whose + lost + " The table loss says where."));
        }
        return all;
    }

    /** Every table that a statement can name. */
    public List<String> tables() {
        return store().tableNames();
    }

    /** Names and types of a table's columns, as statements see them. */
    public List<String> columns(String table) throws IOException {
        List<String> names = new ArrayList<>();
        try (QueryRows rows = store().query("SELECT * FROM \"" + table + "\" LIMIT 0")) {
            rows.columns().forEach(column -> names.add(column.name()));
        }
        return names;
    }

    /** Keeps what statements read for the next time; for after their rows are out. */
    public void keep() {
        store().keep();
    }

    /** Ends the statement that runs. */
    public void interrupt() {
        store().interrupt();
    }

    /**
     * Runs statements; the rows of the last one come while they are written.
     *
     * @throws QueryException when one is wrong; writing the rows throws it, too
     * @throws IOException when a recording fails
     */
    public RowStream rows(String sql) throws IOException {
        QueryRows first = query(sql);
        List<Column> columns = new ArrayList<>();
        boolean simple = true;
        for (QueryColumn column : first.columns()) {
            columns.add(new Column(column.name(), column.isNumber() ? Unit.COUNT : Unit.TEXT));
            simple &= column.isSimple();
        }
        if (simple) {
            return new RowStream("", columns, _ -> new StatementRows(this, first, false));
        }
        // Lists, times and the like are written as DuckDB writes them.
        first.close();
        return new RowStream(
                "",
                columns,
                isJson -> {
                    String value = isJson ? "to_json(COLUMNS(*))" : "COLUMNS(*)";
                    String cast = "SELECT " + value + "::VARCHAR FROM (" + bare(sql) + ")";
                    return new StatementRows(this, query(cast), isJson);
                });
    }

    private QueryRows query(String sql) throws IOException {
        try {
            return store().query(sql);
        } catch (SqlException e) {
            throw wrong(e);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Runs statements and writes the rows of the last one. */
    public void run(String sql, OutputFormat format, OutputStream out) throws IOException {
        RowStream rows = rows(sql);
        switch (format) {
            case CSV -> new CsvRenderer().render(rows, out);
            case JSON -> new JsonRenderer().render(rows, out);
            case TABLE -> new TextRenderer().render(rows, out, TerminalStyle.PLAIN);
            case PARQUET -> throw new IllegalArgumentException("Parquet goes into a file");
        }
    }

    /** What the statement's author sees; a recording that cannot be read is not their fault. */
    QueryException wrong(SqlException failure) throws IOException {
        IOException reading = store().failure();
        if (reading != null) {
            throw reading;
        }
        IOException full = new IOException(failure.getMessage(), failure);
        if (PrivateOutput.isFull(full)) {
            throw full;
        }
        return new QueryException(SqlMessage.of(String.valueOf(failure.getMessage()), tables()));
    }

    /** A statement without the semicolon at its end. */
    private static String bare(String sql) {
        String text = sql.strip();
        while (text.endsWith(";")) {
            text = text.substring(0, text.length() - 1).strip();
        }
        return text + "\n";
    }

    /**
     * Runs a statement and writes its rows into the file named when this was opened, which is
     * replaced once all are written.
     */
    public void runInto(String sql, OutputFormat format) throws IOException {
        PrivateOutput file = output;
        if (file == null) {
            throw new IllegalStateException("no output file was named");
        }
        try {
            if (format == OutputFormat.PARQUET) {
                String copy =
                        "COPY ("
                                + bare(sql)
                                + ") TO "
                                + RecordingStore.quoted(file.path().toString())
                                + " (FORMAT parquet, COMPRESSION zstd)";
                query(copy).close();
            } else {
                try (OutputStream out = PrivateOutput.open(file.path())) {
                    run(sql, format, out);
                }
            }
            file.keep();
        } catch (IOException e) {
            throw file.explained(e);
        }
    }

    @Override
    public void close() {
        RecordingStore open = store;
        if (open != null) {
            open.close();
        }
        sources.forEach(ReportSource::close);
        scratch.close();
        if (output != null) {
            output.close();
        }
    }
}
