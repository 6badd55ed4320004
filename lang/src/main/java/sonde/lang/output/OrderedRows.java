package sonde.lang.output;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import sonde.lang.source.Span;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/**
 * Puts lists of lines in order, the largest first: what a script prints line by line below a head
 * line, until an empty one. A script walks a map as the kernel keeps it.
 */
public final class OrderedRows implements Output {
    private static final int MOST = 1 << 16;

    /**
     * Which lines come first, and how many are shown.
     *
     * @param columns of the head line, as {@code "R_KIB"}: the sum of their values counts
     * @param rows of a list; 0 for all
     * @param separated whether lists end with an empty line, as people read them
     */
    public record Order(List<String> columns, int rows, boolean separated) {
        /** Keeps a copy. */
        public Order {
            columns = List.copyOf(columns);
        }
    }

    private record Row(double value, PrintFormat format, Tuple arguments, byte[] bytes) {}

    private final Output output;
    private final Names names;
    private final Order order;
    private final TextSink head = TextSink.raw();
    private final List<Row> list = new ArrayList<>();
    private int[] columns = {};
    private boolean headed;

    /** Puts in order what another prints. */
    public OrderedRows(Output output, Names names, Order order) {
        this.output = output;
        this.names = names;
        this.order = order;
    }

    @Override
    public void printf(PrintFormat format, Tuple arguments, byte[] bytes, int offset) {
        if (!headed) {
            format.render(arguments, bytes, offset, names, head);
            headed = format.endsLine();
            columns = headed ? places(Rows.columns(head.toString())) : columns;
            output.printf(format, arguments, bytes, offset);
            return;
        }
        boolean empty = format.words().stream().allMatch(PrintFormat.Word::isRule);
        if (!empty) {
            double value = value(format, arguments, bytes, offset);
            byte[] own = Arrays.copyOfRange(bytes, offset, offset + arguments.sizeBytes());
            list.add(new Row(value, format, arguments, own));
        }
        if (empty || list.size() >= MOST) {
            show();
        }
        if (empty && order.separated()) {
            output.printf(format, arguments, bytes, offset);
        }
    }

    private int[] places(List<String> names) {
        return order.columns().stream()
                .mapToInt(column -> names.indexOf(Rows.columns(column).getFirst()))
                .toArray();
    }

    private double value(PrintFormat format, Tuple arguments, byte[] bytes, int offset) {
        List<PrintFormat.Word> words =
                format.words().stream().filter(word -> !word.isRule()).toList();
        return Arrays.stream(columns)
                .filter(column -> column >= 0 && column < words.size())
                .mapToDouble(
                        column -> number(words.get(column).text(arguments, bytes, offset, names)))
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
        list.sort(Comparator.comparingDouble(Row::value).reversed());
        int most = order.rows() == 0 ? list.size() : Math.min(order.rows(), list.size());
        for (Row row : list.subList(0, most)) {
            output.printf(row.format(), row.arguments(), row.bytes(), 0);
        }
        list.clear();
    }

    @Override
    public void end() {
        show();
        output.end();
    }

    @Override
    public void attachedProbes(int count) {
        output.attachedProbes(count);
    }

    @Override
    public void printf(String text) {
        output.printf(text);
    }

    @Override
    public void value(Type type, byte[] bytes, int offset) {
        output.value(type, bytes, offset);
    }

    @Override
    public void literal(String text) {
        output.literal(text);
    }

    @Override
    public void map(MapRows rows, MapRows.Order by, int top, long divisor) {
        output.map(rows, by, top, divisor);
    }

    @Override
    public void mapAtEnd(MapRows rows) {
        output.mapAtEnd(rows);
    }

    @Override
    public void time(String text) {
        output.time(text);
    }

    @Override
    public void cat(byte[] contents) {
        output.cat(contents);
    }

    @Override
    public void join(List<String> words, String delimiter) {
        output.join(words, delimiter);
    }

    @Override
    public void syscall(byte[] text) {
        output.syscall(text);
    }

    @Override
    public void errorf(String text, List<Span> places) {
        output.errorf(text, places);
    }

    @Override
    public void warnf(String text, List<Span> places) {
        output.warnf(text, places);
    }

    @Override
    public void lostEvents(long count) {
        output.lostEvents(count);
    }

    @Override
    public void lost(String probe, String reason, long count) {
        output.lost(probe, reason, count);
    }

    @Override
    public void helperError(String helper, long returned, List<Span> places) {
        output.helperError(helper, returned, places);
    }

    @Override
    public void runtimeError(String message, List<Span> places) {
        output.runtimeError(message, places);
    }

    @Override
    public void testResult(
            List<String> all, int index, long nanos, List<Boolean> passed, String text) {
        output.testResult(all, index, nanos, passed, text);
    }

    @Override
    public void benchmarkResult(List<String> all, int index, long averageNanos, long iterations) {
        output.benchmarkResult(all, index, averageNanos, iterations);
    }

    @Override
    public void flush() {
        output.flush();
    }
}
