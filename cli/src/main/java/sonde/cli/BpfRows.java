package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.event.result.Unit;

/** Objects as a table, or as JSON with bpftool's keys. */
final class BpfRows {
    private BpfRows() {}

    /**
     * Writes all objects.
     *
     * @param columns keys of the table; without a name among them, what else a row has follows
     */
    static int list(
            String title,
            List<Map<String, Object>> rows,
            List<String> columns,
            boolean json,
            PrintWriter out)
            throws IOException {
        if (json) {
            out.print(BpfJson.of(rows));
            out.flush();
            return ExitCode.DONE;
        }
        List<Column> heads = new ArrayList<>();
        for (String column : columns) {
            boolean number = !TEXTS.contains(column);
            heads.add(new Column(column.replace("bytes_", ""), number ? Unit.ID : Unit.TEXT));
        }
        boolean more = !columns.contains("name");
        if (more) {
            heads.add(Column.text("target"));
        }
        heads.add(Column.text("held by"));
        List<List<@Nullable Object>> cells = new ArrayList<>();
        for (Map<String, Object> row : rows) {
            List<@Nullable Object> line = new ArrayList<>();
            for (int i = 0; i < columns.size(); i++) {
                Object value = row.get(columns.get(i));
                boolean id = heads.get(i).unit() == Unit.ID;
                line.add(value == null ? null : id ? value : value.toString());
            }
            if (more) {
                line.add(more(row, columns));
            }
            line.add(held(row));
            cells.add(line);
        }
        Shown.onOut(new Table(title, heads, cells), false);
        return ExitCode.DONE;
    }

    private static final Set<String> TEXTS = Set.of("type", "name", "tag", "prog_ids", "map_ids");
    private static final Set<String> APART = Set.of("pids", "pinned");

    private static String more(Map<String, Object> row, List<String> columns) {
        List<String> words = new ArrayList<>();
        row.forEach((key, value) -> {
            if (!columns.contains(key) && !APART.contains(key)) {
                words.add(key + " " + value);
            }
        });
        return String.join(", ", words);
    }

    private static String held(Map<String, Object> row) {
        List<String> words = new ArrayList<>();
        if (row.get("pids") instanceof List<?> pids) {
            for (Object pid : pids) {
                if (pid instanceof Map<?, ?> holder) {
                    words.add(holder.get("comm") + "(" + holder.get("pid") + ")");
                }
            }
        }
        if (row.get("pinned") instanceof List<?> pins) {
            pins.forEach(pin -> words.add(String.valueOf(pin)));
        }
        return String.join(" ", words);
    }

    /** Writes one object, a line for each fact. */
    static int show(Map<String, Object> row, boolean json, PrintWriter out) {
        if (json) {
            out.print(BpfJson.of(row));
        } else {
            row.forEach((key, value) -> {
                if (!APART.contains(key)) {
                    out.printf("%-18s %s%n", key, sonde.view.Escape.line("" + value));
                }
            });
            String held = held(row);
            out.printf("%-18s %s%n", "held by", held.isEmpty() ? "nobody" : held);
        }
        out.flush();
        return ExitCode.DONE;
    }
}
