package sonde.view;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Document;
import sonde.event.result.Frame;
import sonde.event.result.Histogram;
import sonde.event.result.Histogram.Bound;
import sonde.event.result.IncidentList;
import sonde.event.result.Listing;
import sonde.event.result.LiveResult;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.RowStream;
import sonde.event.result.Table;
import sonde.event.result.TextLayout;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.TimelineLanes.CpuLane;
import sonde.event.result.TimelineLanes.MarkLane;
import sonde.event.result.TimelineSamples;
import sonde.event.result.Unit;

/**
 * What the page is given; {@code data.js} reads it: the length of a JSON document (u32,
 * little-endian), the document, then columns of unsigned LEB128 numbers in the order in which the
 * document counts them:
 *
 * <ul>
 *   <li>each track: for each span the gap since the last end, its length, its state;
 *   <li>stacks: for each node {@code i - parent} ({@code i + 1} at the outermost), then its frame;
 *   <li>each set of samples: for each the time since the last one, track + 1, node + 1, weight,
 *       number of events; in a set of spans also by how much it lasts longer than its weight;
 *   <li>each CPU: for each span the gap since the last end, its length, how much of it was idle,
 *       track + 1;
 *   <li>each lane of marks: for each the time since the last one, track + 1.
 * </ul>
 *
 * Times are nanoseconds from the timeline's start. All text is {@link TextEscape#line escaped}.
 */
final class PageContent {
    private static final int MAX_NESTING = 8;
    private static final int TEXT_WIDTH = 120;
    private static final long MAX_NUMBER = (1L << 53) - 1;
    private static final JsonFactory FACTORY = new JsonFactory();

    private final Report report;
    private final Timeline timeline;
    private final int[] spans;

    PageContent(Report report, Timeline timeline) {
        this.report = report;
        this.timeline = timeline;
        this.spans = new int[timeline.tracks().size()];
    }

    void write(OutputStream out) throws IOException {
        ByteArrayOutputStream document = new ByteArrayOutputStream();
        PackedColumn tracks = tracks();
        try (JsonGenerator json = FACTORY.createGenerator(document)) {
            document(json);
        }
        int size = document.size();
        for (int shift = 0; shift < 32; shift += 8) {
            out.write(size >>> shift);
        }
        document.writeTo(out);
        tracks.writeTo(out);
        stacks().writeTo(out);
        for (TimelineSamples samples : timeline.samples()) {
            samples(samples).writeTo(out);
        }
        lanes().writeTo(out);
    }

    private PackedColumn lanes() {
        PackedColumn columns = new PackedColumn();
        for (CpuLane lane : timeline.lanes().cpus()) {
            long last = 0;
            for (int i = 0; i < lane.starts().length; i++) {
                long from = Math.max(last, relative(lane.starts()[i]));
                long to = Math.max(from, relative(lane.ends()[i]));
                columns.add(from - last);
                columns.add(to - from);
                columns.add(to - from - Math.min(to - from, lane.busy()[i]));
                columns.add(lane.track()[i] + 1L);
                last = to;
            }
        }
        for (MarkLane lane : timeline.lanes().marks()) {
            long last = 0;
            for (int i = 0; i < lane.time().length; i++) {
                long time = Math.max(last, relative(lane.time()[i]));
                columns.add(time - last);
                columns.add(lane.track()[i] + 1L);
                last = time;
            }
        }
        return columns;
    }

    private PackedColumn tracks() {
        PackedColumn columns = new PackedColumn();
        for (int t = 0; t < spans.length; t++) {
            TimelineRow track = timeline.tracks().get(t);
            long last = 0;
            for (int i = 0; i < track.starts().length; i++) {
                long from = Math.max(last, relative(track.starts()[i]));
                long to = relative(track.ends()[i]);
                if (to > from) {
                    columns.add(from - last);
                    columns.add(to - from);
                    columns.add(track.spanStates()[i] & 0xff);
                    last = to;
                    spans[t]++;
                }
            }
        }
        return columns;
    }

    private long relative(long time) {
        return Math.clamp(time, timeline.start(), timeline.end()) - timeline.start();
    }

    private PackedColumn stacks() {
        PackedColumn columns = new PackedColumn();
        int[] parent = timeline.stacks().parent();
        for (int i = 0; i < parent.length; i++) {
            columns.add(i - (long) parent[i]);
        }
        for (int frame : timeline.stacks().frame()) {
            columns.add(frame);
        }
        return columns;
    }

    private PackedColumn samples(TimelineSamples samples) {
        PackedColumn columns = new PackedColumn();
        boolean spans = samples.hasSpans();
        long last = 0;
        for (int i = 0; i < samples.time().length; i++) {
            long time = Math.max(last, relative(samples.time()[i]));
            columns.add(time - last);
            columns.add(samples.track()[i] + 1L);
            columns.add(samples.node()[i] + 1L);
            columns.add(samples.weight()[i]);
            columns.add(samples.count()[i]);
            if (spans) {
                columns.add(samples.lasts()[i] - samples.weight()[i]);
            }
            last = time;
        }
        return columns;
    }

    /** Bytes of LEB128 numbers; what is negative or beyond a double becomes the nearest limit. */
    private static final class PackedColumn extends ByteArrayOutputStream {
        void add(long value) {
            long rest = Math.clamp(value, 0, MAX_NUMBER);
            while (rest > 0x7f) {
                write((int) (rest & 0x7f | 0x80));
                rest >>>= 7;
            }
            write((int) rest);
        }
    }

    private void document(JsonGenerator json) throws IOException {
        json.writeStartObject();
        text(json, "title", report.title());
        json.writeNumberField("start", timeline.start());
        json.writeNumberField("length", Math.max(0, timeline.end() - timeline.start()));
        text(json, "lost", timeline.lanes().lost());
        texts(json, "answer", report.answer());
        texts(json, "notes", report.notes());
        texts(json, "states", timeline.states());
        numbers(json, "totals", timeline.stateNanos());
        json.writeArrayFieldStart("tracks");
        for (int t = 0; t < spans.length; t++) {
            TimelineRow track = timeline.tracks().get(t);
            json.writeStartObject();
            text(json, "name", track.name());
            text(json, "command", track.command());
            json.writeObjectField("pid", track.pid() < 0 ? null : track.pid());
            json.writeObjectField("tid", track.tid() < 0 ? null : track.tid());
            json.writeNumberField("spans", spans[t]);
            numbers(json, "totals", track.stateNanos());
            json.writeEndObject();
        }
        json.writeEndArray();
        frames(json);
        json.writeNumberField("nodes", timeline.stacks().parent().length);
        json.writeArrayFieldStart("samples");
        for (TimelineSamples samples : timeline.samples()) {
            json.writeStartObject();
            text(json, "name", samples.name());
            json.writeStringField("unit", samples.unit().name());
            json.writeNumberField("count", samples.time().length);
            json.writeBooleanField("spans", samples.hasSpans());
            json.writeEndObject();
        }
        json.writeEndArray();
        laneHeads(json);
        json.writeArrayFieldStart("sections");
        sections(json, report.sections(), 0);
        json.writeEndArray();
        json.writeEndObject();
    }

    private void laneHeads(JsonGenerator json) throws IOException {
        json.writeArrayFieldStart("cpus");
        for (CpuLane lane : timeline.lanes().cpus()) {
            json.writeStartObject();
            json.writeNumberField("cpu", lane.cpu());
            json.writeNumberField("spans", lane.starts().length);
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("marks");
        for (MarkLane lane : timeline.lanes().marks()) {
            json.writeStartObject();
            text(json, "name", lane.event());
            json.writeNumberField("count", lane.count());
            texts(json, "texts", lane.texts());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void frames(JsonGenerator json) throws IOException {
        Map<String, Integer> modules = new LinkedHashMap<>();
        json.writeArrayFieldStart("frames");
        for (Frame frame : timeline.stacks().frames()) {
            int module = modules.computeIfAbsent(frame.module(), name -> modules.size());
            json.writeString(TextEscape.line(frame.shown()));
            json.writeNumber(module);
            json.writeNumber(
                    switch (frame.kind()) {
                        case USER -> 0;
                        case KERNEL -> 1;
                        case JIT -> 2;
                        case LABEL -> 3;
                    });
        }
        json.writeEndArray();
        texts(json, "modules", modules.keySet());
    }

    private void sections(JsonGenerator json, List<Result> sections, int nesting)
            throws IOException {
        for (Result section : sections) {
            json.writeStartObject();
            text(json, "title", section.title());
            content(json, section, nesting);
            json.writeEndObject();
        }
    }

    private void content(JsonGenerator json, Result section, int nesting) throws IOException {
        switch (section) {
            case Table table -> table(json, table);
            case Histogram histogram -> histogram(json, histogram);
            case CallTree tree -> pre(json, tree);
            case Report inner -> {
                texts(json, "notes", inner.notes());
                json.writeArrayFieldStart("sections");
                if (nesting < MAX_NESTING) {
                    sections(json, inner.sections(), nesting + 1);
                }
                json.writeEndArray();
            }
            case Timeline _ -> note(json, "Shown above.");
            case Document document -> content(json, document.shown(), nesting);
            case TextLayout layout -> content(json, layout.values(), nesting);
            case IncidentList list -> {
                table(json, list.shown());
                json.writeFieldName("incidents");
                new JsonValueOutput(json).value(escaped(list.incidents()));
            }
            case RowStream _ -> note(json, "Too long for a page; sonde query lists it.");
            case Listing _ -> note(json, "Too long for a page; sonde report lists it.");
            case LiveResult _ -> note(json, "Shown live only.");
        }
    }

    /** The same values; what is text in them is escaped. */
    private static @Nullable Object escaped(@Nullable Object value) {
        return switch (value) {
            case String text -> TextEscape.line(text);
            case Map<?, ?> map -> {
                Map<String, @Nullable Object> copy = new LinkedHashMap<>();
                map.forEach(
                        (key, one) -> copy.put(TextEscape.line(String.valueOf(key)), escaped(one)));
                yield copy;
            }
            case List<?> list -> {
                List<@Nullable Object> copy = new ArrayList<>();
                list.forEach(one -> copy.add(escaped(one)));
                yield copy;
            }
            case null, default -> value;
        };
    }

    private static void note(JsonGenerator json, String note) throws IOException {
        json.writeArrayFieldStart("notes");
        json.writeString(note);
        json.writeEndArray();
    }

    private static void table(JsonGenerator json, Table table) throws IOException {
        json.writeArrayFieldStart("columns");
        for (Column column : table.columns()) {
            json.writeStartObject();
            text(json, "name", column.name());
            json.writeStringField("unit", column.unit().name());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("rows");
        for (List<@Nullable Object> row : table.rows()) {
            json.writeStartArray();
            for (int i = 0; i < row.size(); i++) {
                value(json, table.columns().get(i), row.get(i));
            }
            json.writeEndArray();
        }
        json.writeEndArray();
    }

    /** Numbers that a double holds stay numbers; others become the text to be shown. */
    private static void value(JsonGenerator json, Column column, @Nullable Object value)
            throws IOException {
        switch (value) {
            case null -> json.writeNull();
            case Double number when !Double.isFinite(number) -> json.writeNull();
            case Double number -> json.writeNumber(number);
            case Long number
                    when column.unit() != Unit.ADDRESS
                            && number >= -MAX_NUMBER
                            && number <= MAX_NUMBER ->
                    json.writeNumber(number);
            default -> json.writeString(NumberText.text(column.unit(), value, true));
        }
    }

    private static void histogram(JsonGenerator json, Histogram histogram) throws IOException {
        json.writeStringField("unit", histogram.unit().name());
        json.writeArrayFieldStart("buckets");
        for (Histogram.Bucket bucket : histogram.buckets()) {
            json.writeStartArray();
            json.writeObject(number(bucket.from()));
            json.writeObject(number(bucket.to()));
            json.writeNumber(bucket.count());
            json.writeEndArray();
        }
        json.writeEndArray();
    }

    private static @Nullable Long number(@Nullable Bound bound) {
        return bound == null ? null : Long.valueOf(bound.number());
    }

    private static void pre(JsonGenerator json, CallTree tree) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        CallTree untitled = new CallTree("", tree.unit(), tree.root());
        new TextRenderer().render(untitled, out, new TerminalStyle(TEXT_WIDTH, false, true));
        json.writeStringField("text", out.toString(StandardCharsets.UTF_8));
    }

    private static void numbers(JsonGenerator json, String name, long[] values) throws IOException {
        json.writeArrayFieldStart(name);
        for (long value : values) {
            json.writeNumber(Math.clamp(value, 0, MAX_NUMBER));
        }
        json.writeEndArray();
    }

    private static void text(JsonGenerator json, String name, String value) throws IOException {
        json.writeStringField(name, TextEscape.line(value));
    }

    private static void texts(JsonGenerator json, String name, Iterable<String> values)
            throws IOException {
        json.writeArrayFieldStart(name);
        for (String value : values) {
            json.writeString(TextEscape.line(value));
        }
        json.writeEndArray();
    }
}
