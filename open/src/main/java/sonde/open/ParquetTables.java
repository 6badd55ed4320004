package sonde.open;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Stream;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Recording;
import sonde.probe.launch.ScratchFolder;
import sonde.recording.LongList;
import sonde.recording.RowStore;
import sonde.recording.TypeBuilder;
import sonde.store.duckdb.QueryRows;
import sonde.store.duckdb.SqlConnection;
import sonde.store.duckdb.SqlDatabase;
import sonde.store.duckdb.SqlException;

/**
 * Parquet that {@code sonde convert} wrote, as a recording again: a folder with a file for each
 * event type, or one file with all. Read by DuckDB, which sees no other file.
 */
final class ParquetTables {
    private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
    private static final String ENDING = ".parquet";
    private static final int MEMORY_MEGABYTES = 1024;

    /** Columns that are no fields. */
    private static final Set<String> OWN =
            Set.of("ts", "cpu", "tid", "utid", "weight", "source", "trace_id");

    private static final Set<String> WHOLE = Set.of("ts", "cpu", "tid", "name", "weight", "args");

    private final RowStore store = new RowStore();
    private final SqlConnection connection;

    private ParquetTables(SqlConnection connection) {
        this.connection = connection;
    }

    /** How a column becomes a field. */
    private enum Kind {
        INTEGER,
        FLAG,
        REAL,
        ARRAY,
        TEXT
    }

    /**
     * A column to be read.
     *
     * @param sql what gives its value
     */
    private record ParquetColumn(String name, Kind kind, int bytes, boolean signed, String sql) {}

    /** Whether a file begins as Parquet does. */
    static boolean isOne(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return java.util.Arrays.equals(in.readNBytes(MAGIC.length), MAGIC);
        }
    }

    /** The Parquet files of a folder; empty when it holds none. */
    static List<Path> in(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.toString().endsWith(ENDING)).sorted().toList();
        }
    }

    /**
     * Reads files into one recording.
     *
     * @throws MalformedInputException when one is damaged, or is not sonde's
     */
    static Recording open(List<Path> files) throws IOException {
        try (ScratchFolder scratch = ScratchFolder.temporary("parquet");
                SqlDatabase database = SqlDatabase.open(settings(scratch));
                SqlConnection connection = database.connect()) {
            StringJoiner allowed = new StringJoiner(", ", "SET allowed_paths = [", "]");
            files.forEach(file -> allowed.add(text(file.toAbsolutePath().toString())));
            connection.run(
                    allowed
                            + "; SET enable_external_access = false;"
                            + " SET lock_configuration = true");
            return new ParquetTables(connection).read(files);
        }
    }

    private static Map<String, String> settings(ScratchFolder scratch) {
        return Map.of(
                "memory_limit",
                MEMORY_MEGABYTES + "MB",
                "temp_directory",
                scratch.path().toString(),
                "autoinstall_known_extensions",
                "false",
                "autoload_known_extensions",
                "false");
    }

    private Recording read(List<Path> files) throws IOException {
        return store.filled(() -> {
            for (Path file : files) {
                try {
                    file(file);
                } catch (SqlException e) {
                    throw damaged(file, e);
                }
            }
            // Which clock the times are of was not written.
            return store.recording("parquet", Clock.MONO, List.of());
        });
    }

    private static MalformedInputException damaged(Path file, SqlException failure) {
        String first = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
        return new MalformedInputException("Parquet", name(file), -1, first);
    }

    private static String name(Path file) {
        return String.valueOf(file.getFileName());
    }

    private void file(Path file) throws IOException {
        String from = "read_parquet(" + text(file.toAbsolutePath().toString()) + ")";
        Map<String, String> columns = new LinkedHashMap<>();
        rows(
                "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM " + from + ")",
                values -> columns.put(values.text(0), values.text(1)));
        if (!columns.keySet().containsAll(Set.of("ts", "cpu", "tid"))) {
            throw new MalformedInputException(
                    "Parquet",
                    "magic",
                    0,
                    "sonde did not write it: it has no columns ts, cpu, tid. DuckDB reads any:"
                            + " duckdb -c \"SELECT * FROM '"
                            + file
                            + "'\"");
        }
        if (columns.keySet().equals(WHOLE)) {
            whole(from);
            return;
        }
        List<ParquetColumn> fields = new ArrayList<>();
        columns.forEach((name, type) -> {
            if (!OWN.contains(name)) {
                fields.add(column(name, type, quoted(name)));
            }
        });
        String event = name(file).substring(0, name(file).length() - ENDING.length());
        events(event, fields, columns.containsKey("weight"), from);
    }

    /** One file with all events: the fields are in a JSON object. */
    private void whole(String from) throws IOException {
        Map<String, List<ParquetColumn>> types = new LinkedHashMap<>();
        rows("SELECT DISTINCT name FROM " + from, row -> types.put(row.text(0), new ArrayList<>()));
        rows(
                "SELECT name, k, string_agg(DISTINCT json_type(json_extract(args, p)), ','), p"
                        + " FROM (SELECT name, args, k, '$.\"' || k || '\"' AS p FROM (SELECT name,"
                        + " args, unnest(json_keys(args)) AS k FROM "
                        + from
                        + ")) GROUP BY ALL ORDER BY min(list_position(json_keys(args), k))",
                row -> {
                    String path = text(row.text(3));
                    String extracted = "json_extract(args, " + path + ")";
                    String type = sqlType(row.text(2));
                    boolean plain = type.equals("VARCHAR");
                    String sql =
                            plain
                                    ? "json_extract_string(args, " + path + ")"
                                    : "CAST(" + extracted + " AS " + type + ")";
                    List<ParquetColumn> fields = types.get(row.text(0));
                    if (fields != null) {
                        fields.add(column(row.text(1), type, sql));
                    }
                });
        for (Map.Entry<String, List<ParquetColumn>> one : types.entrySet()) {
            events(
                    one.getKey(),
                    one.getValue(),
                    true,
                    from + " WHERE name = " + text(one.getKey()));
        }
    }

    private static String sqlType(String jsonTypes) {
        return switch (jsonTypes) {
            case "BIGINT" -> "BIGINT";
            case "UBIGINT" -> "UBIGINT";
            case "BIGINT,UBIGINT", "UBIGINT,BIGINT" -> "HUGEINT";
            case "DOUBLE" -> "DOUBLE";
            case "BOOLEAN" -> "BOOLEAN";
            case "ARRAY" -> "HUGEINT[]"; // up to 2^64
            default -> "VARCHAR";
        };
    }

    private static ParquetColumn column(String name, String type, String sql) {
        return switch (type) {
            case "TINYINT" -> new ParquetColumn(name, Kind.INTEGER, 1, true, sql);
            case "SMALLINT" -> new ParquetColumn(name, Kind.INTEGER, 2, true, sql);
            case "INTEGER" -> new ParquetColumn(name, Kind.INTEGER, 4, true, sql);
            case "BIGINT" -> new ParquetColumn(name, Kind.INTEGER, 8, true, sql);
            case "UTINYINT" -> new ParquetColumn(name, Kind.INTEGER, 1, false, sql);
            case "USMALLINT" -> new ParquetColumn(name, Kind.INTEGER, 2, false, sql);
            case "UINTEGER" -> new ParquetColumn(name, Kind.INTEGER, 4, false, sql);
            case "UBIGINT", "HUGEINT" -> new ParquetColumn(name, Kind.INTEGER, 8, false, sql);
            case "BOOLEAN" -> new ParquetColumn(name, Kind.FLAG, 1, false, sql);
            case "FLOAT", "DOUBLE" -> new ParquetColumn(name, Kind.REAL, 8, true, sql);
            default ->
                    type.endsWith("INT[]") || type.equals("INTEGER[]")
                            ? new ParquetColumn(
                                    name, Kind.ARRAY, 8, true, "array_to_string(" + sql + ", ' ')")
                            : new ParquetColumn(name, Kind.TEXT, 0, false, sql + "::VARCHAR");
        };
    }

    private void events(String event, List<ParquetColumn> columns, boolean weighed, String from)
            throws IOException {
        int dot = event.indexOf('.');
        TypeBuilder builder =
                new TypeBuilder(
                        dot > 0 ? event.substring(0, dot) : "parquet", event.substring(dot + 1));
        for (ParquetColumn column : columns) {
            switch (column.kind) {
                case INTEGER -> builder.integer(column.name, column.bytes, column.signed);
                case FLAG -> builder.flag(column.name);
                case REAL -> builder.real(column.name);
                case ARRAY -> builder.array(column.name, column.bytes, column.signed);
                case TEXT -> builder.text(column.name);
            }
        }
        EventType type = store.type(builder);
        String weight = weighed ? ", weight" : ", 1::BIGINT";
        StringJoiner select =
                new StringJoiner(", ", "SELECT ts, cpu, tid" + weight, " FROM " + from);
        select.setEmptyValue("SELECT ts, cpu, tid" + weight + " FROM " + from);
        if (!columns.isEmpty()) {
            select = new StringJoiner(", ", "SELECT ts, cpu, tid" + weight + ", ", " FROM " + from);
            for (ParquetColumn column : columns) {
                select.add(column.sql);
            }
        }
        rows(select.toString(), row -> event(type, columns, row));
    }

    private void event(EventType type, List<ParquetColumn> columns, ParquetValues row) {
        store.begin(row.number(0, 0), (int) row.number(1, -1), (int) row.number(2, -1), type);
        store.sample(-1, row.number(3, 1));
        for (int i = 0; i < columns.size(); i++) {
            Field field = type.fields().get(i);
            switch (columns.get(i).kind) {
                case INTEGER, FLAG -> store.integer(field, row.number(i + 4, 0));
                case REAL -> store.real(field, row.real(i + 4));
                case TEXT -> store.text(field, row.text(i + 4));
                case ARRAY -> store.array(field, numbers(row.text(i + 4)));
            }
        }
        store.end();
    }

    private static LongList numbers(String text) {
        LongList numbers = new LongList();
        for (String word : text.isEmpty() ? new String[0] : text.split(" ")) {
            numbers.add(new BigInteger(word).longValue());
        }
        return numbers;
    }

    /** A row of a result. */
    private record ParquetValues(QueryRows rows, int row) {
        long number(int column, long otherwise) {
            Object value = rows.value(column, row);
            return switch (value) {
                case Number number -> number.longValue();
                case Boolean flag -> flag ? 1 : 0;
                case null, default -> otherwise;
            };
        }

        double real(int column) {
            return rows.value(column, row) instanceof Number number ? number.doubleValue() : 0;
        }

        String text(int column) {
            return rows.value(column, row) instanceof String text ? text : "";
        }
    }

    @FunctionalInterface
    private interface TableTaker {
        void take(ParquetValues values);
    }

    private void rows(String sql, TableTaker taker) throws SqlException {
        try (QueryRows rows = connection.query(sql)) {
            for (int count = rows.next(); count > 0; count = rows.next()) {
                for (int row = 0; row < count; row++) {
                    taker.take(new ParquetValues(rows, row));
                }
            }
        }
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    private static String text(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
