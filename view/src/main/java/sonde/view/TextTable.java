package sonde.view;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.event.result.Unit;

/**
 * Columns aligned: text to the left; numbers with their digits to the right and units below.
 *
 * <p>Without an edge every row is one line. A table wider than the edge loses the columns in which
 * nothing stands; then its names are shortened in the middle and its sentences broken at spaces;
 * then the last columns are left out, with a note. Where less than half of the columns would be
 * left, each row becomes lines of {@code column value}. No word is ever broken.
 */
final class TextTable {
    /** In a pipe or a file a row is a line, however long. */
    private static final int NO_EDGE = 1 << 30;

    /** Longer texts of such a row do not move the columns of the others. */
    private static final int MAX_ALIGNED = 200;

    /** A text that has to be shortened keeps so many columns. */
    private static final int MIN_TEXT = 12;

    /** A text of so many words is a sentence. */
    private static final int SENTENCE_WORDS = 4;

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
        int[] fitting = text.fitting(shown);
        if (2 * fitting.length < shown.length) {
            text.records(out, indent, shown);
            return;
        }
        text.shrink(fitting);
        text.append(out, indent, fitting);
        if (fitting.length < shown.length) {
            text.leftOut(out, indent, IntStream.of(shown).skip(fitting.length).toArray());
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

    /** The first columns, as many as fit beside each other. */
    private int[] fitting(int[] shown) {
        int used = -GAP.length();
        int count = 0;
        while (count < shown.length) {
            used += leastWidth(shown[count]) + GAP.length();
            if (used > edge && count > 0) {
                break;
            }
            count++;
        }
        return IntStream.of(shown).limit(count).toArray();
    }

    private void leftOut(StringBuilder out, String indent, int[] columns) {
        String names =
                IntStream.of(columns).mapToObj(this::heading).collect(Collectors.joining(", "));
        String note = "(no room for " + names + "; a wider terminal, a pipe or --json has all)";
        String lines = WrappedText.of(indent, indent + " ", note, style.width()).stripTrailing();
        lines.lines().forEach(line -> out.append(style.dim(line)).append('\n'));
    }

    /** Each row as lines of a heading and a value. */
    private void records(StringBuilder out, String indent, int[] shown) {
        int wide = IntStream.of(shown).map(i -> CellWidths.width(heading(i))).max().orElse(0);
        boolean first = true;
        for (String[] row : rows) {
            out.append(first ? "" : "\n");
            first = false;
            for (int i : shown) {
                String name = CellWidths.padRight(heading(i), wide);
                int room = Math.max(MIN_TEXT, edge - wide - GAP.length());
                out.append(indent).append(style.dim(name)).append(GAP);
                List<String> lines = CellWidths.lines(row[i], room, style.unicode());
                String between = '\n' + indent + " ".repeat(wide) + GAP;
                out.append(String.join(between, lines)).append('\n');
            }
        }
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
                                    : isSentence(row[i])
                                            ? CellWidths.lines(row[i], width[i], style.unicode())
                                            : List.of(
                                                    CellWidths.shorten(
                                                            row[i], width[i], style.unicode()));
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

    private static boolean isSentence(String text) {
        return text.chars().filter(c -> c == ' ').count() >= SENTENCE_WORDS - 1;
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
