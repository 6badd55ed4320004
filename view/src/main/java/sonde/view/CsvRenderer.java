package sonde.view;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Document;
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
     * Writes rows, or a table, and flushes; {@code out} stays open.
     *
     * @throws IllegalArgumentException for a result that is neither
     */
    public void render(Result result, OutputStream out) throws IOException {
        switch (result) {
            case RowStream rows -> new RowWriter(rows, out).csv();
            case Table table -> new RowWriter(rows(table), out).csv();
            case Document document -> render(document.shown(), out);
            case TextLayout layout -> render(layout.values(), out);
            default -> throw new IllegalArgumentException("no rows: " + result.title());
        }
        out.flush();
    }

    /** The same rows, one after the other. */
    static RowStream rows(Table table) {
        return new RowStream(table.title(), table.columns(), _ -> new Whole(table));
    }

    /** All rows of a table as one chunk; their numbers are not scaled. */
    private static final class Whole implements RowStream.Cursor {
        private final List<Column> columns;
        private final List<List<@Nullable Object>> rows;
        private boolean given;

        Whole(Table table) {
            columns = table.columns();
            rows = table.rows();
        }

        @Override
        public int next() {
            int size = given ? 0 : rows.size();
            given = true;
            return size;
        }

        @Override
        public @Nullable Object value(int column, int row) {
            Object value = rows.get(row).get(column);
            return columns.get(column).unit() == Unit.ADDRESS && value instanceof Long address
                    ? "0x" + Long.toHexString(address)
                    : value;
        }

        @Override
        public boolean isJson() {
            return false;
        }

        @Override
        public void close() {
            // nothing is open
        }
    }
}
