package sonde.store.index;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import sonde.store.duckdb.ColumnType;
import sonde.store.duckdb.SqlConnection;
import sonde.store.duckdb.SqlDatabase;
import sonde.store.duckdb.TableFunction;
import sonde.store.duckdb.TableFunction.FunctionColumn;
import sonde.store.duckdb.TableFunction.ScannedTable;
import sonde.store.duckdb.TableFunction.TableScan;

/**
 * Tables kept as Parquet files, sorted by time, with the columns that were asked for so far. A
 * database of its own reads and writes them, which runs no statement of a user's; so statements
 * cannot reach the files.
 *
 * <p>{@code manifest} names the files, their sizes and columns; everything is written beside and
 * renamed. What is not as the manifest says counts as not there.
 */
public final class ColumnIndex implements AutoCloseable {
    private static final String MANIFEST = "manifest";
    private static final String FIRST_LINE = "sonde index 1";
    private static final String SOURCE = "sonde_source";
    private static final int MAX_MANIFEST_BYTES = 1 << 20;
    private static final byte[] MAGIC = {'P', 'A', 'R', '1'};

    private final Path folder;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private @Nullable SqlDatabase database;
    private TableFunction.@Nullable ScannedTable writing;

    private record Entry(String file, long sizeBytes, List<String> columns) {}

    private ColumnIndex(Path folder) {
        this.folder = folder;
    }

    /** The index in a folder that nobody else can write; empty when there is none or a bad one. */
    public static ColumnIndex in(Path folder) {
        ColumnIndex index = new ColumnIndex(folder);
        try {
            index.read();
        } catch (IOException | RuntimeException damaged) {
            index.entries.clear();
        }
        return index;
    }

    private void read() throws IOException {
        Path manifest = folder.resolve(MANIFEST);
        if (!Files.isRegularFile(manifest) || Files.size(manifest) > MAX_MANIFEST_BYTES) {
            return;
        }
        List<String> lines = Files.readAllLines(manifest);
        if (lines.isEmpty() || !lines.getFirst().equals(FIRST_LINE)) {
            return;
        }
        for (String line : lines.subList(1, lines.size())) {
            String[] parts = line.split("\t", -1);
            String name = decode(parts[0]);
            List<String> columns = new ArrayList<>();
            for (String column : parts[3].split(",")) {
                columns.add(decode(column));
            }
            Entry entry = new Entry(parts[1], Long.parseLong(parts[2]), columns);
            if (isWhole(entry)) {
                entries.put(name, entry);
            }
        }
    }

    private boolean isWhole(Entry entry) throws IOException {
        Path file = folder.resolve(Path.of(entry.file).getFileName());
        if (!Files.isRegularFile(file) || Files.size(file) != entry.sizeBytes) {
            return false;
        }
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            byte[] head = new byte[4];
            byte[] tail = new byte[4];
            in.readFully(head);
            in.seek(entry.sizeBytes - 4);
            in.readFully(tail);
            return java.util.Arrays.equals(head, MAGIC) && java.util.Arrays.equals(tail, MAGIC);
        }
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private SqlDatabase database() throws IOException {
        SqlDatabase open = database;
        if (open == null) {
            open =
                    SqlDatabase.open(
                            Map.of(
                                    "memory_limit", "600MB",
                                    "temp_directory", folder.resolve("spill").toString(),
                                    "autoinstall_known_extensions", "false"));
            try (SqlConnection connection = open.connect()) {
                connection.register(SOURCE, this::source);
            }
            database = open;
        }
        return open;
    }

    private ScannedTable source(String name) throws IOException {
        ScannedTable table = writing;
        if (table == null) {
            throw new IOException("nothing is being written to " + name);
        }
        return table;
    }

    /** Whether a table is here with those columns. */
    public synchronized boolean has(String table, Set<String> columns) {
        Entry entry = entries.get(table);
        return entry != null && entry.columns.containsAll(columns);
    }

    /** Reads columns of a table that is here, in that order. */
    public synchronized TableScan scan(String table, List<String> columns) throws IOException {
        Entry entry = entries.get(table);
        if (entry == null) {
            throw new IOException(table + " is not in the index");
        }
        StringJoiner names = new StringJoiner(", ");
        columns.forEach(column -> names.add(quoted(column)));
        String file = folder.resolve(entry.file).toString();
        return new RowsScan(
                database(),
                "SELECT " + names + " FROM read_parquet('" + file.replace("'", "''") + "')");
    }

    /** Reads a table of another database, for {@link #write}. */
    public static TableScan scan(SqlDatabase from, String sql) {
        return new RowsScan(from, sql);
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /**
     * Writes columns of a table, with those that are here already. What cannot be written is left:
     * an index only saves time.
     *
     * @param order name of the column to sort by
     */
    public synchronized void write(
            String name, ScannedTable table, Set<String> wanted, String order) {
        Entry before = entries.get(name);
        Set<String> all = new LinkedHashSet<>(wanted);
        all.add(order);
        if (before != null) {
            all.addAll(before.columns);
        }
        StringJoiner select = new StringJoiner(", ");
        List<String> columns = new ArrayList<>();
        for (FunctionColumn column : table.columns()) {
            boolean isList = column.type().equals(ColumnType.BIGINT_LIST);
            if (all.contains(column.name()) && !isList) {
                columns.add(column.name());
                select.add(expression(column));
            }
        }
        String file = encode(name).replace("*", "%2A") + "." + System.nanoTime() + ".parquet";
        Path part = folder.resolve(file + ".part");
        try {
            Files.createDirectories(folder);
            writing = table;
            try (SqlConnection connection = database().connect()) {
                connection.run(
                        "COPY (SELECT "
                                + select
                                + " FROM "
                                + SOURCE
                                + "('') ORDER BY "
                                + quoted(order)
                                + ") TO '"
                                + part.toString().replace("'", "''")
                                + "' (FORMAT parquet, COMPRESSION zstd)");
            }
            Files.move(part, folder.resolve(file), StandardCopyOption.ATOMIC_MOVE);
            entries.put(name, new Entry(file, Files.size(folder.resolve(file)), columns));
            save();
            if (before != null) {
                Files.deleteIfExists(folder.resolve(before.file));
            }
        } catch (IOException e) {
            part.toFile().delete();
        } finally {
            writing = null;
        }
    }

    /** Enumerations are kept as their numbers: the labels are those of the recording. */
    private static String expression(FunctionColumn column) {
        String name = quoted(column.name());
        if (column.type().labels().isEmpty()) {
            return name;
        }
        String type =
                switch (column.type().widthBytes()) {
                    case 1 -> "UTINYINT";
                    case 2 -> "USMALLINT";
                    default -> "UINTEGER";
                };
        return "enum_code(" + name + ")::" + type + " AS " + name;
    }

    private void save() throws IOException {
        StringBuilder text = new StringBuilder(FIRST_LINE).append('\n');
        entries.forEach((name, entry) -> {
            StringJoiner columns = new StringJoiner(",");
            entry.columns.forEach(column -> columns.add(encode(column)));
            text.append(encode(name)).append('\t').append(entry.file).append('\t');
            text.append(entry.sizeBytes).append('\t').append(columns).append('\n');
        });
        Path fresh = folder.resolve(MANIFEST + ".part");
        Files.writeString(fresh, text);
        Files.move(
                fresh,
                folder.resolve(MANIFEST),
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }

    /** Forgets and removes a table whose file turned out to be damaged. */
    public synchronized void drop(String table) {
        Entry entry = entries.remove(table);
        if (entry != null) {
            folder.resolve(entry.file).toFile().delete();
        }
    }

    @Override
    public void close() {
        SqlDatabase open = database;
        if (open != null) {
            open.close();
        }
    }
}
