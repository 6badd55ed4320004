package sonde.view;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.event.result.Unit;

/**
 * Columns aligned: text to the left; numbers with their digits to the right and units below.
 *
 * <p>Without an edge every row is one line. A table wider than the edge loses the columns in which
 * nothing stands; then its texts are broken over several lines; a table of so many numbers that
 * even that is too wide goes on below, with its texts repeated.
 */
final class TextTable {
    /** In a pipe or a file a row is a line, however long. */
    private static final int NO_EDGE = 1 << 30;

    /** Longer texts of such a row do not move the columns of the others. */
    private static final int MAX_ALIGNED = 200;

    /** A text that has to be broken keeps so many columns. */
    private static final int MIN_TEXT = 8;

    /** Columns that may name a row. */
    private static final int MAX_KEYS = 3;

    private static final String GAP = "  ";

    private final TerminalStyle style;
    private final int edge;
    private final List<Column> columns;
    private final List<String[]> rows = new ArrayList<>();
    private final int[] number;
    private final int[] suffix;
    private final int[] width;

    private TextTable(Table table, TerminalStyle style, int edge) {
        this.style = style;
        this.edge = edge;
        this.columns = table.columns();
        this.number = new int[columns.size()];
        this.suffix = new int[columns.size()];
        this.width = new int[columns.size()];
        for (List<@Nullable Object> row : table.rows()) {
            rows.add(texts(row));
        }
        measure();
    }

    static void append(StringBuilder out, String indent, Table table, TerminalStyle style) {
        if (table.rows().isEmpty()) {
            out.append(indent).append(style.dim("none")).append('\n');
            return;
        }
        int whole = style.width() == 0 ? NO_EDGE : style.width();
        TextTable text = new TextTable(table, style, Math.max(1, whole - indent.length()));
        int[] all = IntStream.range(0, table.columns().size()).toArray();
        int[] shown =
                text.wide(all) <= text.edge
                        ? all
                        : IntStream.of(all).filter(i -> i == 0 || !isEmpty(table, i)).toArray();
        boolean first = true;
        for (int[] block : text.blocks(shown)) {
            if (!first) {
                out.append('\n');
            }
            first = false;
            text.shrink(block);
            text.append(out, indent, block);
        }
    }

    /** Whether a column says nothing in any row. */
    private static boolean isEmpty(Table table, int column) {
        return table.rows().stream()
                .map(row -> row.get(column))
                .allMatch(value ->
                        value == null
                                || value instanceof Number number && number.doubleValue() == 0
                                || value instanceof String text && text.isEmpty());
    }

    private String[] texts(List<@Nullable Object> row) {
        String[] texts = new String[columns.size()];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = NumberText.text(columns.get(i).unit(), row.get(i), style.unicode());
        }
        return texts;
    }

    private void measure() {
        for (int i = 0; i < width.length; i++) {
            for (String[] row : rows) {
                if (isText(i)) {
                    width[i] = Math.max(width[i], CellWidths.width(row[i]));
                } else {
                    int unit = unitAt(row[i]);
                    number[i] = Math.max(number[i], unit);
                    suffix[i] = Math.max(suffix[i], row[i].length() - unit);
                }
            }
            int heading = CellWidths.width(heading(i));
            int aligned = style.width() == 0 ? Math.min(width[i], MAX_ALIGNED) : width[i];
            width[i] = Math.max(heading, isText(i) ? aligned : number[i] + suffix[i]);
        }
    }

    private int wide(int[] block) {
        int sum = -GAP.length();
        for (int i : block) {
            sum += width[i] + GAP.length();
        }
        return sum;
    }

    private int leastWidth(int i) {
        return isText(i) ? Math.min(width[i], MIN_TEXT) : width[i];
    }

    private boolean isKey(int i) {
        return isText(i) || columns.get(i).unit() == Unit.ID;
    }

    /** Columns that stand side by side: all that fit; what names a row before the rest again. */
    private List<int[]> blocks(int[] shown) {
        int keys = 0;
        int used = -GAP.length();
        while (keys < shown.length - 1 && (keys == 0 || keys < MAX_KEYS && isKey(shown[keys]))) {
            int cells = leastWidth(shown[keys]) + GAP.length();
            if (keys > 0 && used + cells > edge / 2) {
                break;
            }
            used += cells;
            keys++;
        }
        List<int[]> blocks = new ArrayList<>();
        List<Integer> block = new ArrayList<>();
        int at = used;
        for (int k = keys; k < shown.length; k++) {
            int cells = leastWidth(shown[k]) + GAP.length();
            if (!block.isEmpty() && at + cells > edge) {
                blocks.add(block(shown, keys, block));
                block.clear();
                at = used;
            }
            block.add(shown[k]);
            at += cells;
        }
        blocks.add(block(shown, keys, block));
        return blocks;
    }

    private static int[] block(int[] shown, int keys, List<Integer> rest) {
        return IntStream.concat(
                        IntStream.of(shown).limit(keys), rest.stream().mapToInt(Integer::intValue))
                .toArray();
    }

    /** Narrows the widest text of a block until it fits, or every text is as narrow as it may. */
    private void shrink(int[] block) {
        int excess = wide(block) - edge;
        while (excess > 0) {
            int widest = -1;
            for (int i : block) {
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

    private void append(StringBuilder out, String indent, int[] block) {
        StringBuilder line = new StringBuilder();
        for (int k = 0; k < block.length; k++) {
            int i = block[k];
            line.append(k == 0 ? "" : GAP);
            line.append(
                    isText(i)
                            ? CellWidths.padRight(
                                    CellWidths.cut(heading(i), width[i], style.unicode()), width[i])
                            : CellWidths.padLeft(heading(i), width[i]));
        }
        out.append(indent).append(style.dim(line.toString().stripTrailing())).append('\n');
        for (String[] row : rows) {
            row(out, indent, row, block);
        }
    }

    /** A row; what of its texts does not fit goes on in the next lines. */
    private void row(StringBuilder out, String indent, String[] row, int[] block) {
        List<List<String>> cells = new ArrayList<>();
        int height = 1;
        for (int i : block) {
            List<String> lines =
                    !isText(i)
                            ? List.of(cell(row[i], i))
                            : style.width() == 0
                                    ? List.of(row[i])
                                    : CellWidths.lines(row[i], width[i]);
            cells.add(lines);
            height = Math.max(height, lines.size());
        }
        StringBuilder line = new StringBuilder();
        for (int at = 0; at < height; at++) {
            line.setLength(0);
            for (int k = 0; k < block.length; k++) {
                List<String> lines = cells.get(k);
                String text = at < lines.size() ? lines.get(at) : "";
                line.append(k == 0 ? "" : GAP).append(CellWidths.padRight(text, width[block[k]]));
            }
            out.append(indent).append(line.toString().stripTrailing()).append('\n');
        }
    }

    private String cell(String text, int i) {
        int unit = unitAt(text);
        String aligned =
                CellWidths.padLeft(text.substring(0, unit), number[i])
                        + CellWidths.padRight(text.substring(unit), suffix[i]);
        return CellWidths.padLeft(aligned, width[i]);
    }

    private String heading(int i) {
        return TextEscape.line(columns.get(i).name());
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
