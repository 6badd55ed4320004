package sonde.lang.output;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.output.MapRows.MapStyle;
import sonde.lang.output.MapRows.RowForm;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.SeriesType;

/** Text for people: what the script prints to one stream, messages to another. */
public final class TextOutput implements ScriptOutput {
    private static final int MUCH = 1 << 16;

    /** To the upper left corner, and nothing behind it: ECMA-48, CUP and ED. */
    private static final String CLEAR = "\u001b[H\u001b[2J";

    private static final int E2BIG = -7;
    private static final int ENOENT = -2;

    private final OutputStream stream;
    private final OutputStream errors;
    private final ValueNames names;
    private final MapStyle style;
    private final @Nullable HeadedRows rows;
    private final @Nullable RowLists lists;
    private final TextSink out;
    private final TextSink message = TextSink.forTerminal();

    /**
     * Prints.
     *
     * @param out what the script prints
     * @param errors messages about the script
     */
    public TextOutput(OutputStream out, OutputStream errors, ValueNames names) {
        this(out, errors, names, MapStyle.USUAL, null);
    }

    /**
     * Prints.
     *
     * @param style of maps
     * @param rowStyle of lines below a head line; null for other scripts
     */
    public TextOutput(
            OutputStream out,
            OutputStream errors,
            ValueNames names,
            MapStyle style,
            @Nullable RowStyle rowStyle) {
        this.stream = out;
        this.errors = errors;
        this.names = names;
        this.style = style;
        this.out = style.isOfTool() ? TextSink.forRows() : TextSink.forTerminal();
        boolean csv = style.form() == RowForm.CSV;
        rows = rowStyle != null && csv ? HeadedRows.csv(names) : null;
        lists =
                rowStyle == null
                        ? null
                        : new RowLists(rowStyle, names, !csv, this::line, this::clear);
    }

    private void clear() {
        out.put(CLEAR);
    }

    @Override
    public void attachedProbes(int count) {
        message.put(count == 1 ? "Attached 1 probe\n" : "Attached " + count + " probes\n");
        say();
    }

    @Override
    public void printf(String text) {
        out.put(text);
        drainIfMuch();
    }

    @Override
    public void printf(PrintFormat format, TupleType arguments, byte[] bytes, int offset) {
        if (style.form() == RowForm.FOLDED) {
            format.render(arguments, bytes, offset, names, message);
            say();
            return;
        }
        if (lists != null) {
            lists.accept(format, arguments, bytes, offset);
        } else if (!style.isOfMaps()) {
            line(format, arguments, bytes, offset);
        }
    }

    private void line(PrintFormat format, TupleType arguments, byte[] bytes, int offset) {
        if (rows != null) {
            rows.accept(format, arguments, bytes, offset, out);
        } else {
            format.render(arguments, bytes, offset, names, out);
        }
        drainIfMuch();
    }

    @Override
    public void value(ValueType type, byte[] bytes, int offset) {
        ValueText.write(type, bytes, offset, names, out);
        endLine();
    }

    @Override
    public void literal(String text) {
        out.put(TextSink.scriptBytes(text));
        endLine();
    }

    @Override
    public void map(MapRows rows, MapOrder order, int top, long divisor) {
        long by = divisor == 0 ? 1 : divisor;
        if (style.form() == RowForm.FOLDED && !rows.scalar()) {
            new FoldedRows(style.parts(), names, out).write(rows, style.order(order), top, by);
            drainIfMuch();
        } else if (printsStacks() && !rows.scalar() && StackRows.fits(rows.key())) {
            new StackRows(style.parts(), names, out).write(rows, style.order(order), top, by);
            drainIfMuch();
        } else if (style.form() == RowForm.CSV) {
            new CsvRows(names, out).write(rows, rows.ordered(style.order(order), top), by);
            drainIfMuch();
        } else if (!rows.scalar()) {
            long latest = rows.value() instanceof SeriesType ? rows.latest() : 0;
            for (MapRow row : rows.ordered(style.order(order), top)) {
                row(rows, row, latest, by);
            }
        } else if (!rows.rows().isEmpty()) {
            scalar(rows, rows.rows().getFirst().value(), by);
        } else if (!rows.isTall()) {
            scalar(rows, new byte[Math.max(0, rows.value().sizeBytes())], by);
        }
    }

    @Override
    public void mapAtEnd(MapRows rows) {
        if (!rows.rows().isEmpty()) {
            map(rows, 0, 1);
        }
    }

    private boolean printsStacks() {
        return style.form() == RowForm.USUAL && !style.parts().isEmpty();
    }

    private void scalar(MapRows rows, byte[] value, long divisor) {
        out.put(rows.name());
        out.put(rows.isTall() ? ":\n" : ": ");
        mapValue(rows.value(), value, rows.latest(), divisor);
        endLine();
    }

    private void row(MapRows rows, MapRow row, long latest, long divisor) {
        out.put(rows.name());
        out.put('[');
        int start = out.size();
        ValueText.write(rows.key(), row.key(), 0, names, out);
        if (rows.key() instanceof TupleType tuple && !tuple.named()) {
            out.stripParentheses(start);
        }
        out.put(rows.isTall() ? "]:\n" : "]: ");
        mapValue(rows.value(), row.value(), latest, divisor);
        endLine();
    }

    private void mapValue(ValueType type, byte[] bytes, long latest, long divisor) {
        if (type instanceof SeriesType series) {
            SeriesTable.of(series, bytes, 0).write(latest, names.zone(), out);
        } else {
            ValueText.write(type, bytes, 0, names, out, divisor);
        }
    }

    @Override
    public void time(String text) {
        if (style.form() == RowForm.FOLDED) {
            message.put(TextSink.scriptBytes(text));
            say();
            return;
        }
        out.put(style.isOfMaps() ? "time," : "");
        out.put(TextSink.scriptBytes(text));
        drainIfMuch();
    }

    @Override
    public void cat(byte[] contents) {
        if (rows != null && rows.isOpen()) {
            rows.last(contents, out);
        } else {
            out.foreignLines(contents);
        }
        drainIfMuch();
    }

    @Override
    public void join(List<String> words, String delimiter) {
        byte[] between = TextSink.scriptBytes(delimiter);
        for (int i = 0; i < words.size(); i++) {
            if (i > 0) {
                out.put(between);
            }
            out.foreign(words.get(i));
        }
        endLine();
    }

    @Override
    public void syscallPart(byte[] output) {
        out.put(output);
        drainIfMuch();
    }

    @Override
    public void syscall(byte[] output) {
        out.put(output);
        endLine();
    }

    @Override
    public void errorf(String text, List<SourceSpan> places) {
        written("ERROR: ", text, places);
    }

    @Override
    public void warnf(String text, List<SourceSpan> places) {
        written("WARNING: ", text, places);
    }

    @Override
    public void mapFull() {
        warnf(style.full(), List.of());
    }

    private void written(String severity, String text, List<SourceSpan> places) {
        said(severity, text, places.isEmpty() ? places : places.subList(0, 1), false);
        chain(severity, places);
        say();
    }

    @Override
    public void lostEvents(long count) {
        message.put("Lost " + count + " events\n");
        say();
    }

    @Override
    public void lost(String probe, String reason, long count) {
        message.put("Lost " + count + " events of ");
        message.foreign(probe);
        message.put(": ");
        message.foreign(reason);
        message.put('\n');
        say();
    }

    @Override
    public void helperError(String helper, long returned, List<SourceSpan> places) {
        String text =
                helper.equals("map_update_elem") && returned == E2BIG
                        ? style.full()
                        : helper.equals("map_delete_elem") && returned == ENOENT
                                ? "Can't delete map element because it does not exist."
                                : helper.equals("map_lookup_elem")
                                        ? "Can't lookup map element because it does not exist."
                                        : ErrorText.of(-returned);
        String more = "\nAdditional Info - helper: " + helper + ", retcode: " + returned;
        runtimeError(text + more, places);
    }

    @Override
    public void runtimeError(String text, List<SourceSpan> places) {
        String severity = "WARNING: ";
        said(severity, text, places.isEmpty() ? places : places.subList(0, 1), true);
        chain(severity, places);
        say();
    }

    private void chain(String severity, List<SourceSpan> places) {
        for (int i = 1; i < places.size(); i++) {
            said(severity, "expanded from", places.subList(i, i + 1), true);
        }
    }

    private void said(String severity, String text, List<SourceSpan> place, boolean context) {
        if (!place.isEmpty()) {
            message.put(SourceContext.place(place.getFirst()) + ": ");
        }
        message.put(severity);
        message.put(text.endsWith("\n") ? text.substring(0, text.length() - 1) : text);
        message.put('\n');
        if (context && !place.isEmpty()) {
            SourceContext.lines(place.getFirst(), message);
        }
    }

    @Override
    public void testResult(
            List<String> all, int index, long nanos, List<Boolean> passed, String output) {
        TestReport.test(all, index, nanos, passed, output, out);
        drainIfMuch();
    }

    @Override
    public void benchmarkResult(List<String> all, int index, long averageNanos, long iterations) {
        TestReport.benchmark(all, index, averageNanos, iterations, out);
        drainIfMuch();
    }

    @Override
    public void end() {
        if (lists != null) {
            lists.end();
        }
        if (style.form() == RowForm.USUAL && !printsStacks()) {
            printf("\n\n");
        }
    }

    private void endLine() {
        out.put('\n');
        drainIfMuch();
    }

    private void drainIfMuch() {
        if (out.size() >= MUCH) {
            drain();
        }
    }

    private void drain() {
        try {
            out.drainTo(stream);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes a message, behind what the script printed before. */
    private void say() {
        flush();
        try {
            message.drainTo(errors);
            errors.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void flush() {
        drain();
        try {
            stream.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
