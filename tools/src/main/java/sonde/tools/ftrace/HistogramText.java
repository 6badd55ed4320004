package sonde.tools.ftrace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;

/**
 * The text of an event's {@code hist} file (kernel/trace/trace_events_hist.c): a line for each key,
 * or several where a key is a stack.
 *
 * @param rows in the kernel's order
 * @param dropped events for which the kernel's table had no room
 */
public record HistogramText(List<HistogramRow> rows, long hits, long dropped) {
    private static final Pattern VALUE = Pattern.compile("([\\w.$()-]+):\\s+(-?\\d+(?:\\.\\d+)?)");
    private static final Pattern NEXT_KEY = Pattern.compile(", (?=[\\w.$]+: )");
    private static final int MOST_ROWS = 1 << 17; // TRACING_MAP_BITS_MAX

    /** A key, by field, and its sums, by name; "hitcount" is the first. */
    public record HistogramRow(
            SequencedMap<String, String> keys, SequencedMap<String, String> values) {
        long hits() {
            String text = values.getOrDefault("hitcount", "0");
            return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
        }
    }

    /** Reads a text; what is no histogram is left out. */
    public static HistogramText parse(String text) {
        List<HistogramRow> rows = new ArrayList<>();
        long hits = 0;
        long dropped = 0;
        StringBuilder key = null;
        for (String line : text.split("\n")) {
            String bare = line.strip();
            if (bare.startsWith("{ ") || bare.equals("Totals:")) {
                key = null; // an unfinished row
            }
            if (key == null && bare.startsWith("{ ")) {
                key = new StringBuilder();
                bare = bare.substring(2);
            }
            if (key == null) {
                hits = bare.startsWith("Hits: ") ? number(bare) : hits;
                dropped = bare.startsWith("Dropped: ") ? number(bare) : dropped;
                continue;
            }
            int end = bare.indexOf("} hitcount:");
            key.append(end < 0 ? bare + "\n" : bare.substring(0, end));
            if (end >= 0) {
                if (rows.size() < MOST_ROWS) {
                    rows.add(new HistogramRow(keys(key.toString()), values(bare.substring(end))));
                }
                key = null;
            }
        }
        return new HistogramText(List.copyOf(rows), hits, dropped);
    }

    private static long number(String line) {
        String digits = line.substring(line.indexOf(' ') + 1);
        return digits.matches("\\d{1,18}") ? Long.parseLong(digits) : 0;
    }

    private static SequencedMap<String, String> keys(String text) {
        SequencedMap<String, String> keys = new LinkedHashMap<>();
        for (String one : NEXT_KEY.split(text.strip())) {
            int colon = one.indexOf(':');
            String value = one.substring(colon + 1).strip().replaceAll("[ \t]*\n[ \t]*", " < ");
            keys.put(colon < 0 ? "key" : one.substring(0, colon), value.replaceAll(" {2,}", " "));
        }
        return keys;
    }

    private static SequencedMap<String, String> values(String text) {
        SequencedMap<String, String> values = new LinkedHashMap<>();
        Matcher matcher = VALUE.matcher(text);
        while (matcher.find()) {
            values.put(matcher.group(1), matcher.group(2));
        }
        return values;
    }

    /** As a table, most hits first. */
    Table table(String title, int most) {
        List<Column> columns = new ArrayList<>();
        List<String> keys = rows.isEmpty() ? List.of() : List.copyOf(rows.getFirst().keys.keySet());
        List<String> values =
                rows.isEmpty() ? List.of() : List.copyOf(rows.getFirst().values.keySet());
        keys.forEach(name -> columns.add(Column.text(name)));
        values.forEach(name -> columns.add(Column.count(name.equals("hitcount") ? "hits" : name)));
        List<List<@Nullable Object>> cells = new ArrayList<>();
        rows.stream()
                .sorted(Comparator.comparingLong((HistogramRow row) -> -row.hits()))
                .limit(most)
                .forEach(row -> {
                    List<@Nullable Object> line = new ArrayList<>();
                    keys.forEach(name -> line.add(row.keys.getOrDefault(name, "")));
                    for (String name : values) {
                        line.add(whole(row.values, name));
                    }
                    cells.add(line);
                });
        return new Table(title, columns, cells);
    }

    private static @Nullable Long whole(Map<String, String> values, String name) {
        String text = values.getOrDefault(name, "");
        return text.matches("-?\\d{1,18}") ? Long.valueOf(text) : null;
    }
}
