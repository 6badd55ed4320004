package sonde.lang.output;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.lang.output.PrintFormat.FormatWord;
import sonde.lang.type.TupleType;

/**
 * Lines below a head line on their way to who prints them: without hidden columns, lists of them in
 * order. A script walks a map as the kernel keeps it; its list is at hand when an empty line comes.
 */
final class RowLists {
    private static final int MOST = 1 << 16;

    /** Prints a line, or a piece of one. */
    @FunctionalInterface
    interface LinePrinter {
        void print(PrintFormat format, TupleType arguments, byte[] bytes, int offset);
    }

    private record ListedRow(double value, PrintFormat format, TupleType arguments, byte[] bytes) {}

    private final RowStyle style;
    private final ValueNames names;
    private final LinePrinter line;
    private final Runnable clear;
    private final boolean separated;
    private final TextSink head = TextSink.raw();
    private final List<ListedRow> headLine = new ArrayList<>();
    private final List<ListedRow> list = new ArrayList<>();
    private final Map<PrintFormat, PrintFormat> shown = new HashMap<>();
    private final Set<Integer> hidden = new HashSet<>();
    private int[] columns = {};
    private boolean headed;

    /**
     * Hands lines on.
     *
     * @param separated whether lists end with an empty line, as people read them
     * @param clear makes the screen empty
     */
    RowLists(
            RowStyle style, ValueNames names, boolean separated, LinePrinter line, Runnable clear) {
        this.style = style;
        this.names = names;
        this.separated = separated;
        this.line = line;
        this.clear = clear;
    }

    /** Takes a line, or a piece of one. */
    void accept(PrintFormat format, TupleType arguments, byte[] bytes, int offset) {
        if (!headed) {
            head(format, arguments, bytes, offset);
            return;
        }
        boolean empty = format.words().isEmpty();
        if (empty) {
            show();
            if (separated) {
                line.print(format, arguments, bytes, offset);
            }
        } else if (columns.length == 0) {
            line.print(shown(format), arguments, bytes, offset);
        } else {
            list.add(row(format, arguments, bytes, offset));
            if (list.size() >= MOST) {
                show();
            }
        }
    }

    private void head(PrintFormat format, TupleType arguments, byte[] bytes, int offset) {
        format.render(arguments, bytes, offset, names, head);
        headLine.add(row(format, arguments, bytes, offset));
        headed = format.endsLine();
        if (headed) {
            List<String> all = HeadedRows.columns(head.toString());
            columns =
                    style.sortedBy().stream()
                            .mapToInt(column -> all.indexOf(HeadedRows.columns(column).getFirst()))
                            .filter(at -> at >= 0)
                            .toArray();
            style.hidden()
                    .forEach(column ->
                            hidden.add(all.indexOf(HeadedRows.columns(column).getFirst())));
            headLine.forEach(this::print);
        }
    }

    private ListedRow row(PrintFormat format, TupleType arguments, byte[] bytes, int offset) {
        byte[] own = Arrays.copyOfRange(bytes, offset, offset + arguments.sizeBytes());
        return new ListedRow(value(format, arguments, own), format, arguments, own);
    }

    private void print(ListedRow row) {
        line.print(shown(row.format()), row.arguments(), row.bytes(), 0);
    }

    /** A format without the hidden columns. */
    private PrintFormat shown(PrintFormat format) {
        return hidden.isEmpty() ? format : shown.computeIfAbsent(format, this::cut);
    }

    private PrintFormat cut(PrintFormat format) {
        Set<Integer> left = new HashSet<>();
        int column = 0;
        List<FormatWord> words = format.words();
        for (int i = 0; i < words.size(); i++) {
            if (!words.get(i).isRule() && hidden.contains(column++)) {
                left.add(i);
            }
        }
        return format.without(left);
    }

    private double value(PrintFormat format, TupleType arguments, byte[] bytes) {
        if (columns.length == 0) {
            return 0;
        }
        List<FormatWord> words = format.words().stream().filter(word -> !word.isRule()).toList();
        return Arrays.stream(columns)
                .filter(column -> column < words.size())
                .mapToDouble(column -> number(words.get(column).text(arguments, bytes, 0, names)))
                .sum();
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text.strip());
        } catch (NumberFormatException e) {
            return 0; // a word: all are alike
        }
    }

    private void show() {
        if (style.clears()) {
            clear.run();
            headLine.forEach(this::print);
        }
        list.sort(Comparator.comparingDouble(ListedRow::value).reversed());
        int most = style.rows() == 0 ? list.size() : Math.min(style.rows(), list.size());
        list.subList(0, most).forEach(this::print);
        list.clear();
    }

    /** Shows what has come since the last list. */
    void end() {
        if (!list.isEmpty()) {
            show();
        }
    }
}
