package sonde.store.table;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import sonde.analysis.stack.SampleTypes;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.store.duckdb.ColumnType;
import sonde.store.duckdb.TableFunction;
import sonde.store.duckdb.TableFunction.FunctionColumn;
import sonde.store.duckdb.TableFunction.TableScan;
import sonde.store.table.EventColumn.ColumnContent;

/**
 * The rows of one event type, over all traces and sources that have it, or those of all types.
 * Nothing is read until DuckDB scans it, and then only the columns it names.
 */
public final class EventTable implements TableFunction.ScannedTable {
    private final String name;
    private final List<StoredTrace> traces;
    private final UniqueThreadIds utids;
    private final List<EventColumn> columns;
    private final List<String> labels;
    private final List<String> sources;
    private final @Nullable String typeName;
    private final Set<String> read = ConcurrentHashMap.newKeySet();

    private volatile @Nullable IOException reading;

    private EventTable(
            String name,
            @Nullable String typeName,
            List<StoredTrace> traces,
            UniqueThreadIds utids) {
        this.name = name;
        this.typeName = typeName;
        this.traces = List.copyOf(traces);
        this.utids = utids;
        labels = typeName == null ? names(traces) : List.of();
        sources = sources(traces);
        columns = typeName == null ? general() : typed(typeName);
    }

    /** The table {@code events}. */
    public static EventTable all(List<StoredTrace> traces, UniqueThreadIds utids) {
        return new EventTable("events", null, traces, utids);
    }

    /**
     * The table of a type.
     *
     * @param typeName "sched.sched_switch"
     */
    public static EventTable of(String typeName, List<StoredTrace> traces, UniqueThreadIds utids) {
        return new EventTable(typeName, typeName, traces, utids);
    }

    /** How SQL names a type. */
    public static String nameOf(EventType type) {
        return type.system().isEmpty() ? type.name() : type.system() + "." + type.name();
    }

    /** The names of all types that the traces declare. */
    public static List<String> names(List<StoredTrace> traces) {
        TreeSet<String> names = new TreeSet<>();
        for (StoredTrace trace : traces) {
            for (Recording recording : trace.recordings()) {
                for (Source source : recording.sources()) {
                    source.types().forEach(type -> names.add(nameOf(type)));
                }
            }
        }
        return List.copyOf(names);
    }

    private static List<String> sources(List<StoredTrace> traces) {
        TreeSet<String> names = new TreeSet<>();
        for (StoredTrace trace : traces) {
            for (Recording recording : trace.recordings()) {
                recording.sources().forEach(source -> names.add(source.name()));
            }
        }
        return List.copyOf(names);
    }

    private static List<EventColumn> first() {
        return new ArrayList<>(
                List.of(
                        EventColumn.of("ts", ColumnType.BIGINT, ColumnContent.TS),
                        EventColumn.of("cpu", ColumnType.INTEGER, ColumnContent.CPU),
                        EventColumn.of("utid", ColumnType.INTEGER, ColumnContent.UTID),
                        EventColumn.of("tid", ColumnType.INTEGER, ColumnContent.TID)));
    }

    private List<EventColumn> general() {
        List<EventColumn> result = first();
        result.add(EventColumn.of("name", ColumnType.enumeration(labels), ColumnContent.NAME));
        result.add(EventColumn.of("weight", ColumnType.BIGINT, ColumnContent.WEIGHT));
        result.add(EventColumn.of("source", ColumnType.enumeration(sources), ColumnContent.SOURCE));
        result.add(EventColumn.of("trace_id", ColumnType.INTEGER, ColumnContent.TRACE));
        return result;
    }

    private List<EventColumn> typed(String wanted) {
        List<EventColumn> result = first();
        Map<String, ColumnType> fields = new LinkedHashMap<>();
        boolean weighs = false;
        for (EventType type : types(wanted)) {
            weighs |= SampleTypes.isWeighed(type) || type.system().equals(EventType.NOTICE);
            for (Field field : type.fields()) {
                fields.merge(field.name(), FieldReader.type(field), EventTable::common);
            }
        }
        if (weighs) {
            result.add(EventColumn.of("weight", ColumnType.BIGINT, ColumnContent.WEIGHT));
        }
        Set<String> taken = new HashSet<>(List.of("trace_id", "source"));
        result.forEach(column -> taken.add(column.name()));
        fields.forEach((field, type) -> {
            String column = field;
            while (!taken.add(column.toLowerCase(Locale.ROOT))) {
                column = "arg_" + column;
            }
            result.add(EventColumn.ofField(column, type, field));
        });
        result.add(EventColumn.of("source", ColumnType.enumeration(sources), ColumnContent.SOURCE));
        result.add(EventColumn.of("trace_id", ColumnType.INTEGER, ColumnContent.TRACE));
        return result;
    }

    private List<EventType> types(String wanted) {
        List<EventType> found = new ArrayList<>();
        for (StoredTrace trace : traces) {
            for (Recording recording : trace.recordings()) {
                for (Source source : recording.sources()) {
                    source.types().stream()
                            .filter(type -> nameOf(type).equals(wanted))
                            .forEach(found::add);
                }
            }
        }
        return found;
    }

    /** What holds the values of both. */
    private static ColumnType common(ColumnType one, ColumnType other) {
        if (one.equals(other)) {
            return one;
        }
        Set<ColumnType> small = Set.of(ColumnType.BOOLEAN, ColumnType.INTEGER, ColumnType.BIGINT);
        boolean fits = small.contains(one) && small.contains(other);
        return fits ? ColumnType.BIGINT : ColumnType.VARCHAR;
    }

    /** How SQL names the table. */
    public String name() {
        return name;
    }

    @Override
    public List<FunctionColumn> columns() {
        return columns.stream()
                .map(column -> new FunctionColumn(column.name(), column.type()))
                .toList();
    }

    @Override
    public long rows() {
        return -1;
    }

    @Override
    public TableScan scan(int[] wanted) throws IOException {
        List<@Nullable EventColumn> chosen = new ArrayList<>();
        for (int number : wanted) {
            EventColumn column = number < columns.size() ? columns.get(number) : null;
            chosen.add(column);
            if (column != null) {
                read.add(column.name());
                if (column.part() == ColumnContent.UTID) {
                    utids.prepare();
                }
            }
        }
        return new EventScan(this, chosen);
    }

    /** Values read for statements so far, by column. */
    public Map<String, Long> decoded() {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (EventColumn column : columns) {
            if (column.decoded().sum() > 0) {
                counts.put(column.name(), column.decoded().sum());
            }
        }
        return counts;
    }

    void failed(IOException failure) {
        reading = failure;
    }

    /** Why the recording could not be read on, if that happened. */
    public @Nullable IOException failure() {
        return reading;
    }

    List<StoredTrace> traces() {
        return traces;
    }

    UniqueThreadIds utids() {
        return utids;
    }

    /** Whether rows of a type belong here. */
    boolean has(EventType type) {
        return typeName == null || typeName.equals(nameOf(type));
    }

    int label(EventType type) {
        return java.util.Collections.binarySearch(labels, nameOf(type));
    }

    int sourceLabel(Source source) {
        return java.util.Collections.binarySearch(sources, source.name());
    }
}
