package sonde.view;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Document;
import sonde.event.result.IncidentList;
import sonde.event.result.LiveResult;
import sonde.event.result.Result;
import sonde.event.result.RowStream;
import sonde.event.result.Table;
import sonde.event.result.TextLayout;
import sonde.event.result.Unit;

/** Rows as comma-separated values (RFC 4180), with a line of names. */
public final class CsvRenderer {
    /** A renderer; it holds nothing. */
    public CsvRenderer() {}

    /**
     * Writes rows, or a table, or those of a live result one after the other, and flushes; {@code
     * out} stays open.
     *
     * @throws IllegalArgumentException for a result that is neither
     */
    public void render(Result result, OutputStream out) throws IOException {
        switch (result) {
            case RowStream rows -> new RowWriter(rows, out).csv();
            case Table table -> new RowWriter(rows(table), out).csv();
            case Document document -> render(document.shown(), out);
            case IncidentList list -> render(list.shown(), out);
            case LiveResult live -> {
                Result state = live.ticks().next();
                while (state != null) {
                    render(state, out);
                    state = live.ticks().next();
                }
            }
            case TextLayout layout -> render(layout.values(), out);
            default -> throw new IllegalArgumentException("no rows: " + result.title());
        }
        out.flush();
    }

    /** The same rows, one after the other; their numbers are not scaled. */
    static RowStream rows(Table table) {
        return RowStream.of(table.title(), table.columns(), () -> unscaled(table));
    }

    private static List<List<@Nullable Object>> unscaled(Table table) {
        List<Column> columns = table.columns();
        if (columns.stream().noneMatch(column -> column.unit() == Unit.ADDRESS)) {
            return table.rows();
        }
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (List<@Nullable Object> row : table.rows()) {
            List<@Nullable Object> cells = new ArrayList<>(row);
            for (int i = 0; i < cells.size(); i++) {
                boolean isAddress = columns.get(i).unit() == Unit.ADDRESS;
                if (isAddress && cells.get(i) instanceof Long address) {
                    cells.set(i, "0x" + Long.toHexString(address));
                }
            }
            rows.add(cells);
        }
        return rows;
    }
}
