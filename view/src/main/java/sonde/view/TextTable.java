package sonde.view;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.event.result.Unit;

/** Columns aligned: text to the left; numbers with their digits to the right and units below. */
final class TextTable {
    /** Without an edge a longer text does not widen its column, only its own row. */
    private static final int MAX_TEXT = 72;

    private static final int MIN_TEXT = 8;
    private static final String GAP = "  ";

    private final Style style;
    private final List<Column> columns;
    private final List<String[]> rows = new ArrayList<>();
    private final int[] number;
    private final int[] suffix;
    private final int[] width;

    private TextTable(Table table, Style style) {
        this.style = style;
        this.columns = table.columns();
        this.number = new int[columns.size()];
        this.suffix = new int[columns.size()];
        this.width = new int[columns.size()];
        for (List<@Nullable Object> row : table.rows()) {
            rows.add(texts(row));
        }
        measure();
        shrink();
    }

    static void append(StringBuilder out, String indent, Table table, Style style) {
        if (table.rows().isEmpty()) {
            out.append(indent).append(style.dim("none")).append('\n');
            return;
        }
        new TextTable(table, narrowed(style, indent)).append(out, indent);
    }

    private static Style narrowed(Style style, String indent) {
        return style.width() == 0
                ? style
                : new Style(
                        Math.max(1, style.width() - indent.length()),
                        style.colour(),
                        style.unicode());
    }

    private String[] texts(List<@Nullable Object> row) {
        String[] texts = new String[columns.size()];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = Numbers.text(columns.get(i).unit(), row.get(i), style.unicode());
        }
        return texts;
    }

    private void measure() {
        for (int i = 0; i < width.length; i++) {
            for (String[] row : rows) {
                if (isText(i)) {
                    width[i] = Math.max(width[i], Math.min(MAX_TEXT, Cells.width(row[i])));
                } else {
                    int unit = unitAt(row[i]);
                    number[i] = Math.max(number[i], unit);
                    suffix[i] = Math.max(suffix[i], row[i].length() - unit);
                }
            }
            int heading = Cells.width(heading(i));
            width[i] = Math.max(heading, isText(i) ? width[i] : number[i] + suffix[i]);
        }
    }

    private void shrink() {
        int excess = -style.width();
        for (int cells : width) {
            excess += cells + GAP.length();
        }
        excess -= GAP.length();
        while (style.width() > 0 && excess > 0) {
            int widest = -1;
            for (int i = 0; i < width.length; i++) {
                if (isText(i) && width[i] > MIN_TEXT && (widest < 0 || width[i] > width[widest])) {
                    widest = i;
                }
            }
            if (widest < 0) {
                return;
            }
            width[widest]--;
            excess--;
        }
    }

    private void append(StringBuilder out, String indent) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < width.length; i++) {
            String heading = heading(i);
            line.append(i == 0 ? "" : GAP);
            line.append(
                    isText(i)
                            ? Cells.padRight(fit(heading, i), width[i])
                            : Cells.padLeft(heading, width[i]));
        }
        out.append(indent).append(style.dim(line.toString().stripTrailing())).append('\n');
        for (String[] row : rows) {
            line.setLength(0);
            for (int i = 0; i < width.length; i++) {
                line.append(i == 0 ? "" : GAP).append(cell(row[i], i));
            }
            out.append(indent).append(line.toString().stripTrailing()).append('\n');
        }
    }

    private String cell(String text, int i) {
        if (isText(i)) {
            return Cells.padRight(fit(text, i), width[i]);
        }
        int unit = unitAt(text);
        String aligned =
                Cells.padLeft(text.substring(0, unit), number[i])
                        + Cells.padRight(text.substring(unit), suffix[i]);
        return Cells.padLeft(aligned, width[i]);
    }

    private String fit(String text, int i) {
        return style.width() == 0 ? text : Cells.cut(text, width[i], style.unicode());
    }

    private String heading(int i) {
        return Escape.line(columns.get(i).name());
    }

    private boolean isText(int i) {
        return columns.get(i).unit() == Unit.TEXT;
    }

    /** Where the unit begins, its space included. */
    private static int unitAt(String text) {
        int space = text.lastIndexOf(' ');
        return space < 0 ? text.length() : space;
    }
}
