package sonde.view;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.CsvCell;
import sonde.event.result.RowStream;
import sonde.event.result.RowStream.RowCursor;
import sonde.event.result.Unit;

/** Writes rows as text, while they come. */
final class RowWriter {
    /** Rows that are looked at to find how wide the columns of a table are. */
    private static final int LOOKED_AT = 1000;

    /** Longer texts do not move the columns of other rows. */
    private static final int MAX_ALIGNED = 120;

    /** Texts that have to be shortened on a terminal keep so many cells. */
    private static final int MIN_TEXT = 12;

    private final OutputStream out;
    private final RowStream stream;
    private final List<Column> columns;
    private final StringBuilder line = new StringBuilder();

    RowWriter(RowStream stream, OutputStream out) {
        this.stream = stream;
        this.out = out;
        columns = stream.columns();
    }

    /** A line of names, then a line a row. */
    void csv() throws IOException {
        for (int i = 0; i < columns.size(); i++) {
            line.append(i == 0 ? "" : ",").append(CsvCell.of(columns.get(i).name()));
        }
        end();
        try (RowCursor rows = stream.source().open(false)) {
            for (int size = rows.next(); size > 0; size = rows.next()) {
                for (int row = 0; row < size; row++) {
                    for (int i = 0; i < columns.size(); i++) {
                        Object value = rows.value(i, row);
                        line.append(i == 0 ? "" : ",");
                        line.append(value == null ? "" : CsvCell.of(value.toString()));
                    }
                    end();
                }
            }
        }
        flush();
    }

    /** An object a line. */
    void json() throws IOException {
        try (RowCursor rows = stream.source().open(true)) {
            boolean isJson = rows.isJson();
            for (int size = rows.next(); size > 0; size = rows.next()) {
                for (int row = 0; row < size; row++) {
                    line.append('{');
                    for (int i = 0; i < columns.size(); i++) {
                        line.append(i == 0 ? "" : ", ");
                        jsonText(columns.get(i).name());
                        line.append(": ");
                        jsonValue(rows.value(i, row), isJson);
                    }
                    line.append('}');
                    end();
                }
            }
        }
        flush();
    }

    private void jsonValue(@Nullable Object value, boolean isJson) {
        if (value instanceof Double number && !Double.isFinite(number)) {
            line.append("null"); // JSON has no such numbers
        } else if (value instanceof String text && !isJson) {
            jsonText(text);
        } else {
            line.append(value);
        }
    }

    private void jsonText(String text) {
        line.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> line.append("\\\"");
                case '\\' -> line.append("\\\\");
                case '\n' -> line.append("\\n");
                case '\t' -> line.append("\\t");
                default -> {
                    if (c < 0x20 || c == 0x7f || c >= 0x80 && c < 0xa0) {
                        line.append(String.format("\\u%04x", (int) c));
                    } else {
                        line.append(c);
                    }
                }
            }
        }
        line.append('"');
    }

    /**
     * In columns; numbers to the right. Widths are those of the first rows. Where a row is wider
     * than a terminal its texts are shortened; in a pipe every text is whole.
     */
    void table(TerminalStyle style) throws IOException {
        List<String[]> first = new ArrayList<>();
        int[] widths = new int[columns.size()];
        for (int i = 0; i < widths.length; i++) {
            widths[i] = Math.min(MAX_ALIGNED, CellWidths.width(cell(columns.get(i).name())));
        }
        boolean headed = false;
        try (RowCursor rows = stream.source().open(false)) {
            for (int size = rows.next(); size > 0; size = rows.next()) {
                for (int row = 0; row < size; row++) {
                    String[] cells = new String[widths.length];
                    for (int i = 0; i < cells.length; i++) {
                        cells[i] = cell(rows.value(i, row));
                        int wide = Math.min(MAX_ALIGNED, CellWidths.width(cells[i]));
                        widths[i] = headed ? widths[i] : Math.max(widths[i], wide);
                    }
                    if (headed) {
                        row(cells, widths, style);
                    } else {
                        first.add(cells);
                        if (first.size() == LOOKED_AT) {
                            head(first, widths, style);
                            headed = true;
                        }
                    }
                }
            }
        }
        if (!headed) {
            head(first, widths, style);
        }
        flush();
    }

    private void head(List<String[]> first, int[] widths, TerminalStyle style) throws IOException {
        if (style.width() > 0) {
            shrink(widths, style.width());
        }
        String[] names = new String[widths.length];
        for (int i = 0; i < names.length; i++) {
            names[i] = cell(columns.get(i).name());
        }
        row(names, widths, style);
        for (String[] cells : first) {
            row(cells, widths, style);
        }
    }

    /** Narrows the widest text until a row fits, or every text is as narrow as it may. */
    private void shrink(int[] widths, int edge) {
        for (int excess = Arrays.stream(widths).sum() + 2 * (widths.length - 1) - edge;
                excess > 0;
                excess--) {
            int widest = -1;
            for (int i = 0; i < widths.length; i++) {
                boolean isText = columns.get(i).unit() == Unit.TEXT && widths[i] > MIN_TEXT;
                if (isText && (widest < 0 || widths[i] > widths[widest])) {
                    widest = i;
                }
            }
            if (widest < 0) {
                return;
            }
            widths[widest]--;
        }
    }

    private static String cell(@Nullable Object value) {
        return switch (value) {
            case null -> "-";
            case Double number -> number(number);
            default -> TextEscape.line(value.toString());
        };
    }

    private static String number(double value) {
        boolean whole = value == Math.rint(value) && Math.abs(value) < 1e15;
        return whole ? Long.toString((long) value) + ".0" : Double.toString(value);
    }

    private void row(String[] cells, int[] widths, TerminalStyle style) throws IOException {
        for (int i = 0; i < cells.length; i++) {
            line.append(i == 0 ? "" : "  ");
            boolean right = columns.get(i).unit() != Unit.TEXT;
            boolean whole = style.width() == 0 || right;
            String cell =
                    whole ? cells[i] : CellWidths.shorten(cells[i], widths[i], style.unicode());
            String gap = " ".repeat(Math.max(0, widths[i] - CellWidths.width(cell)));
            line.append(right ? gap : "").append(cell);
            line.append(right || i == cells.length - 1 ? "" : gap);
        }
        end();
    }

    private void end() throws IOException {
        line.append('\n');
        if (line.length() > 1 << 13) {
            flush();
        }
    }

    private void flush() throws IOException {
        out.write(line.toString().getBytes(StandardCharsets.UTF_8));
        line.setLength(0);
    }
}
