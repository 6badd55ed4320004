package sonde.lang.output;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.output.MapRows.MapStyle;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.SeriesType;

/** A JSON object per line for each thing printed, {@code {"type": "printf", "data": "hi"}}. */
public final class JsonOutput implements ScriptOutput {
    private static final int MUCH = 1 << 16;

    private final OutputStream stream;
    private final ValueNames names;
    private final MapStyle style;
    private final @Nullable HeadedRows rows;
    private final @Nullable RowLists lists;
    private final TextSink out = TextSink.raw();
    private final TextSink text = TextSink.raw();

    /** Prints everything to one stream. */
    public JsonOutput(OutputStream out, ValueNames names) {
        this(out, names, MapStyle.USUAL, null);
    }

    /**
     * Prints.
     *
     * @param style of maps
     * @param rowStyle of a script whose first line names the columns of the lines below it, which
     *     are objects with the names as keys; null for other scripts
     */
    public JsonOutput(
            OutputStream out, ValueNames names, MapStyle style, @Nullable RowStyle rowStyle) {
        this.stream = out;
        this.names = names;
        this.style = style;
        rows = rowStyle == null ? null : HeadedRows.json(names);
        lists =
                rowStyle == null
                        ? null
                        : new RowLists(rowStyle.whole(), names, false, this::row, () -> {});
    }

    private void row(PrintFormat format, TupleType arguments, byte[] bytes, int offset) {
        if (rows != null) {
            rows.accept(format, arguments, bytes, offset, out);
            drainIfMuch();
        }
    }

    private void begin(String type) {
        out.put("{\"type\": \"");
        out.put(type);
        out.put("\", \"data\": ");
    }

    private void endLine() {
        out.put("}\n");
        drainIfMuch();
    }

    private void drainIfMuch() {
        if (out.size() >= MUCH) {
            drain();
        }
    }

    private void string(String type, String value) {
        begin(type);
        out.json(value);
        endLine();
    }

    private void string(String type, byte[] value) {
        begin(type);
        out.json(value, 0, value.length);
        endLine();
    }

    @Override
    public void attachedProbes(int count) {
        counted("attached_probes", "probes", count);
    }

    private void counted(String type, String name, long count) {
        out.put("{\"type\": \"" + type + "\", \"count\": " + count);
        out.put(", \"data\": {\"" + name + "\": " + count + "}");
        endLine();
    }

    @Override
    public void printf(String value) {
        string("printf", value);
    }

    @Override
    public void printf(PrintFormat format, TupleType arguments, byte[] bytes, int offset) {
        if (lists != null) {
            lists.accept(format, arguments, bytes, offset);
        }
        if (lists != null || style.isOfMaps()) {
            return;
        }
        text.clear();
        format.render(arguments, bytes, offset, names, text);
        begin("printf");
        out.json(text);
        endLine();
    }

    @Override
    public void value(ValueType type, byte[] bytes, int offset) {
        begin("value");
        JsonValueText.write(type, bytes, offset, names, out);
        endLine();
    }

    @Override
    public void literal(String value) {
        string("value", TextSink.scriptBytes(value));
    }

    @Override
    public void map(MapRows rows, MapOrder order, int top, long divisor) {
        long by = divisor == 0 ? 1 : divisor;
        boolean isAverage = rows.value() instanceof AverageType;
        if (!style.parts().isEmpty() && !rows.scalar() && StackRows.fits(rows.key())) {
            new StackRows(style.parts(), names, out).writeJson(rows, style.order(order), top, by);
            drainIfMuch();
        } else if (!rows.scalar()) {
            if (!rows.rows().isEmpty() || isAverage) {
                object(rows, rows.ordered(style.order(order), top), by);
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
        } else if (rows.value() instanceof AverageType) {
            // bpftrace leaves out all empty maps but these.
            object(rows, List.of(), 1);
        }
    }

    private void beginMap(MapRows rows) {
        begin(
                switch (rows.value()) {
                    case AverageType _ -> "stats";
                    case HistType _, LhistType _ -> "hist";
                    case SeriesType _ -> "tseries";
                    case ValueType _ -> "map";
                });
        out.put('{');
        out.json(rows.name());
        out.put(": ");
    }

    private void scalar(MapRows rows, byte[] value, long divisor) {
        beginMap(rows);
        mapValue(rows.value(), value, rows.latest(), divisor);
        out.put('}');
        endLine();
    }

    private void object(MapRows rows, List<MapRow> ordered, long divisor) {
        beginMap(rows);
        long latest = rows.value() instanceof SeriesType ? rows.latest() : 0;
        out.put('{');
        boolean isFirst = true;
        for (MapRow row : ordered) {
            out.put(isFirst ? "" : ", ");
            isFirst = false;
            JsonValueText.key(rows.key(), row.key(), names, out);
            out.put(": ");
            mapValue(rows.value(), row.value(), latest, divisor);
        }
        out.put("}}");
        endLine();
    }

    private void mapValue(ValueType type, byte[] bytes, long latest, long divisor) {
        if (type instanceof SeriesType series) {
            SeriesTable.of(series, bytes, 0).writeJson(latest, out);
        } else {
            JsonValueText.write(type, bytes, 0, names, out, divisor);
        }
    }

    @Override
    public void time(String value) {
        string("time", TextSink.scriptBytes(value));
    }

    @Override
    public void cat(byte[] contents) {
        if (rows != null && rows.isOpen()) {
            rows.last(contents, out);
            return;
        }
        string("cat", contents);
    }

    @Override
    public void join(List<String> words, String delimiter) {
        text.clear();
        byte[] between = TextSink.scriptBytes(delimiter);
        for (int i = 0; i < words.size(); i++) {
            if (i > 0) {
                text.put(between);
            }
            text.put(words.get(i));
        }
        begin("join");
        out.json(text);
        endLine();
    }

    @Override
    public void syscall(byte[] output) {
        string("syscall", output);
    }

    @Override
    public void errorf(String value, List<SourceSpan> places) {
        message("errorf", value, "", places);
    }

    @Override
    public void warnf(String value, List<SourceSpan> places) {
        message("warnf", value, "", places);
    }

    @Override
    public void mapFull() {
        warnf(style.full(), List.of());
    }

    private void message(String type, String value, String more, List<SourceSpan> places) {
        out.put("{\"type\": \"");
        out.put(type);
        out.put("\", \"msg\": ");
        out.json(value);
        out.put(more);
        if (!places.isEmpty()) {
            SourceSpan place = places.getFirst();
            out.put(", \"filename\": ");
            out.json(place.source().name());
            out.put(", \"line\": " + place.source().line(place.from()));
            out.put(", \"col\": " + place.source().column(place.from()));
        }
        endLine();
    }

    @Override
    public void lostEvents(long count) {
        counted("lost_events", "events", count);
    }

    @Override
    public void lost(String probe, String reason, long count) {
        begin("lost");
        out.put("{\"probe\": ");
        out.json(probe);
        out.put(", \"reason\": ");
        out.json(reason);
        out.put(", \"events\": " + count + "}");
        endLine();
    }

    @Override
    public void helperError(String helper, long returned, List<SourceSpan> places) {
        TextSink more = TextSink.raw();
        more.put(", \"helper\": ");
        more.json(helper);
        more.put(", \"retcode\": ");
        JsonValueText.number(returned, true, more);
        message("helper_error", ErrorText.of(-returned), more.toString(), places);
    }

    @Override
    public void runtimeError(String value, List<SourceSpan> places) {
        message("runtime_error", value, "", places);
    }

    @Override
    public void testResult(
            List<String> all, int index, long nanos, List<Boolean> passed, String output) {
        begin("test_result");
        out.put('{');
        out.json(all.get(index));
        out.put(": {\"duration\": " + nanos + ", \"passed\": " + passed.get(index));
        out.put(", \"output\": ");
        out.json(output);
        out.put("}}");
        endLine();
    }

    @Override
    public void benchmarkResult(List<String> all, int index, long averageNanos, long iterations) {
        begin("benchmark_result");
        out.put('{');
        out.json(all.get(index));
        out.put(": {\"average\": " + averageNanos + ", \"iters\": " + iterations + "}}");
        endLine();
    }

    @Override
    public void end() {
        if (lists != null) {
            lists.end();
        }
    }

    private void drain() {
        try {
            out.drainTo(stream);
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
