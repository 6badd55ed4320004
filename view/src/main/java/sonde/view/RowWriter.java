package sonde.view;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.RowStream;
import sonde.event.result.RowStream.RowCursor;
import sonde.event.result.Unit;

/** Writes rows as text, while they come. */
final class RowWriter {
    /** Rows that are looked at to find how wide the columns of a table are. */
    private static final int LOOKED_AT = 1000;

    /** Characters of a cell of a table; longer ones are cut, with a mark. */
    private static final int MAX_CELL = 120;

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
            line.append(i == 0 ? "" : ",").append(csv(columns.get(i).name()));
        }
        end();
        try (RowCursor rows = stream.source().open(false)) {
            for (int size = rows.next(); size > 0; size = rows.next()) {
                for (int row = 0; row < size; row++) {
                    for (int i = 0; i < columns.size(); i++) {
                        Object value = rows.value(i, row);
                        line.append(i == 0 ? "" : ",");
                        line.append(value == null ? "" : csv(value.toString()));
                    }
                    end();
                }
            }
        }
        flush();
    }

    private static String csv(String text) {
        boolean plain = text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
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

    /** In columns; numbers to the right. Widths are those of the first rows. */
    void table() throws IOException {
        List<String[]> first = new ArrayList<>();
        int[] widths = new int[columns.size()];
        for (int i = 0; i < widths.length; i++) {
            widths[i] = Math.min(MAX_CELL, TextEscape.line(columns.get(i).name()).length());
        }
        boolean headed = false;
        try (RowCursor rows = stream.source().open(false)) {
            for (int size = rows.next(); size > 0; size = rows.next()) {
                for (int row = 0; row < size; row++) {
                    String[] cells = new String[widths.length];
                    for (int i = 0; i < cells.length; i++) {
                        cells[i] = cell(rows.value(i, row));
                        widths[i] = headed ? widths[i] : Math.max(widths[i], cells[i].length());
                    }
                    if (headed) {
                        row(cells, widths);
                    } else {
                        first.add(cells);
                        if (first.size() == LOOKED_AT) {
                            head(first, widths);
                            headed = true;
                        }
                    }
                }
            }
        }
        if (!headed) {
            head(first, widths);
        }
        flush();
    }

    private void head(List<String[]> first, int[] widths) throws IOException {
        String[] names = new String[widths.length];
        for (int i = 0; i < names.length; i++) {
            names[i] = cell(columns.get(i).name());
        }
        row(names, widths);
        for (String[] cells : first) {
            row(cells, widths);
        }
    }

    private static String cell(@Nullable Object value) {
        String text =
                switch (value) {
                    case null -> "-";
                    case Double number -> number(number);
                    default -> TextEscape.line(value.toString());
                };
        return text.length() <= MAX_CELL ? text : text.substring(0, MAX_CELL - 1) + "…";
    }

    private static String number(double value) {
        boolean whole = value == Math.rint(value) && Math.abs(value) < 1e15;
        return whole ? Long.toString((long) value) + ".0" : Double.toString(value);
    }

    private void row(String[] cells, int[] widths) throws IOException {
        for (int i = 0; i < cells.length; i++) {
            line.append(i == 0 ? "" : "  ");
            String gap = " ".repeat(Math.max(0, widths[i] - cells[i].length()));
            boolean right = columns.get(i).unit() != Unit.TEXT;
            line.append(right ? gap : "").append(cells[i]);
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
