package sonde.view;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.result.CallChains;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Document;
import sonde.event.result.Frame;
import sonde.event.result.Histogram;
import sonde.event.result.Histogram.Bound;
import sonde.event.result.IncidentList;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.LiveResult;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.RowStream;
import sonde.event.result.Table;
import sonde.event.result.TextLayout;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.TimelineSamples;
import sonde.event.result.Unit;

/**
 * Results as JSON for programs: the values of the text form, unscaled. {@code docs/json.md} gives
 * the shape of each kind. A listing becomes lines of one object each, a live result one line per
 * state; everything else is one object and a line feed.
 */
public final class JsonRenderer {
    /** Nodes below this depth are left out, and their parent says {@code "cut": true}. */
    static final int MAX_DEPTH = 512;

    /** Loaded for results whose JSON is made here; rows of listings come as bytes. */
    private static final class Generators {
        static final JsonFactory FACTORY =
                JsonFactory.builder()
                        .streamWriteConstraints(
                                StreamWriteConstraints.builder()
                                        .maxNestingDepth(4 * MAX_DEPTH)
                                        .build())
                        .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
                        .build();
    }

    /** A renderer; it holds nothing. */
    public JsonRenderer() {}

    /**
     * Writes a result and flushes; {@code out} stays open.
     *
     * @throws IOException when {@code out}, the rows of a listing or the ticks of a live result
     *     fail
     */
    public void render(Result result, OutputStream out) throws IOException {
        switch (result) {
            case Listing listing -> ListingRenderer.render(listing, ListingForm.JSON_LINES, out);
            case LiveResult live -> {
                Result state = live.ticks().next();
                while (state != null) {
                    render(state, out);
                    state = live.ticks().next();
                }
            }
            case Table table -> object(table, out);
            case Histogram histogram -> object(histogram, out);
            case CallTree tree -> object(tree, out);
            case Timeline timeline -> object(timeline, out);
            case Report report -> object(report, out);
            case IncidentList list -> object(list, out);
            case Document document -> document(document, out);
            case TextLayout layout -> render(layout.values(), out);
            case RowStream rows -> new RowWriter(rows, out).json();
        }
        out.flush();
    }

    private static void document(Document document, OutputStream out) throws IOException {
        try (JsonGenerator json = Generators.FACTORY.createGenerator(out)) {
            if (document.rowDepth() > 0) {
                json.setPrettyPrinter(new JsonValueOutput.RowPrinter(document.rowDepth()));
            }
            document.values().writeTo(new JsonValueOutput(json));
            json.writeRaw('\n');
        }
    }

    /** A value as {@link Document} has it, on one line. */
    public static String text(@Nullable Object value) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = Generators.FACTORY.createGenerator(text)) {
            new JsonValueOutput(json).value(value);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a StringWriter has no such
        }
        return text.toString();
    }

    private static void object(Result result, OutputStream out) throws IOException {
        try (JsonGenerator json = Generators.FACTORY.createGenerator(out)) {
            new JsonWriting(json).result(result);
            json.writeRaw('\n');
        }
    }

    /**
     * A title or heading as a key: lower case, every run of other characters than letters and
     * digits one underscore.
     */
    public static String key(String title) {
        String key =
                title.toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}]+", "_")
                        .replaceAll("^_+|_+$", "");
        return key.isEmpty() ? "_" : TextEscape.wellFormed(key);
    }

    /** The word for a unit: what the raw numbers count. */
    static String unit(Unit unit) {
        return switch (unit) {
            case COUNT -> "count";
            case NANOS -> "ns";
            case BYTES -> "bytes";
            case SHARE -> "share";
            case TIMESTAMP -> "timestamp_ns";
            case ADDRESS -> "address";
            case ID -> "id";
            case TEXT -> "text";
        };
    }

    private record JsonWriting(JsonGenerator json) {
        private void result(Result result) throws IOException {
            if (result instanceof TextLayout layout) {
                result(layout.values());
                return;
            }
            json.writeStartObject();
            string("title", result.title());
            switch (result) {
                case Table table -> table(table);
                case Histogram histogram -> histogram(histogram);
                case CallTree tree -> tree(tree);
                case Timeline timeline -> timeline(timeline);
                case Report report -> report(report);
                case Document document -> {
                    string("kind", "document");
                    json.writeFieldName("values");
                    document.values().writeTo(new JsonValueOutput(json));
                }
                case IncidentList list -> {
                    string("kind", "incidents");
                    json.writeFieldName("incidents");
                    new JsonValueOutput(json).value(list.incidents());
                }
                case TextLayout layout ->
                        throw new IllegalStateException(layout.title()); // returned above
                case RowStream rows ->
                        throw new IllegalArgumentException("rows within: " + rows.title());
                case Listing listing ->
                        throw new IllegalArgumentException("listing within: " + listing.title());
                case LiveResult live ->
                        throw new IllegalArgumentException("live within: " + live.title());
            }
            json.writeEndObject();
        }

        private void report(Report report) throws IOException {
            string("kind", "report");
            if (!report.answer().isEmpty()) {
                texts("answer", report.answer());
            }
            texts("notes", report.notes());
            json.writeObjectFieldStart("sections");
            Keys keys = new Keys();
            for (Result section : report.sections()) {
                json.writeFieldName(keys.next(section.title()));
                result(section);
            }
            json.writeEndObject();
        }

        private void texts(String key, List<String> texts) throws IOException {
            json.writeArrayFieldStart(key);
            for (String text : texts) {
                json.writeString(TextEscape.wellFormed(text));
            }
            json.writeEndArray();
        }

        private void table(Table table) throws IOException {
            string("kind", "table");
            Keys keys = new Keys();
            String[] names = new String[table.columns().size()];
            json.writeArrayFieldStart("columns");
            for (int i = 0; i < names.length; i++) {
                Column column = table.columns().get(i);
                names[i] = keys.next(column.name());
                json.writeStartObject();
                string("key", names[i]);
                string("name", column.name());
                string("unit", unit(column.unit()));
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("rows");
            for (List<@Nullable Object> row : table.rows()) {
                json.writeStartObject();
                for (int i = 0; i < names.length; i++) {
                    json.writeFieldName(names[i]);
                    value(table.columns().get(i).unit(), row.get(i));
                }
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        private void value(Unit unit, @Nullable Object value) throws IOException {
            switch (value) {
                case null -> json.writeNull();
                case Double number when number.isNaN() || number.isInfinite() -> json.writeNull();
                case Double number -> json.writeNumber(number);
                case Number number when unit == Unit.ADDRESS ->
                        json.writeString("0x" + Long.toHexString(number.longValue()));
                case Number number -> json.writeNumber(number.longValue());
                default -> json.writeString(TextEscape.wellFormed(value.toString()));
            }
        }

        private void histogram(Histogram histogram) throws IOException {
            string("kind", "histogram");
            string("unit", unit(histogram.unit()));
            json.writeArrayFieldStart("buckets");
            for (Histogram.Bucket bucket : histogram.buckets()) {
                json.writeStartObject();
                bound("from", bucket.from(), histogram.signed());
                bound("to", bucket.to(), histogram.signed());
                json.writeNumberField("count", bucket.count());
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        private void bound(String name, @Nullable Bound bound, boolean signed) throws IOException {
            json.writeFieldName(name);
            if (bound == null) {
                json.writeNull();
            } else if (signed || bound.number() >= 0) {
                json.writeNumber(bound.number());
            } else {
                json.writeNumber(new BigInteger(Long.toUnsignedString(bound.number())));
            }
        }

        private void tree(CallTree tree) throws IOException {
            string("kind", "call_tree");
            string("unit", unit(tree.unit()));
            json.writeFieldName("root");
            node(tree.root(), 0);
        }

        private void node(CallTree.Node node, int depth) throws IOException {
            json.writeStartObject();
            frame(node.frame());
            json.writeNumberField("total", node.total());
            json.writeNumberField("self", node.self());
            json.writeNumberField("count", node.count());
            List<CallTree.Node> children = node.children();
            if (depth == MAX_DEPTH && !children.isEmpty()) {
                json.writeBooleanField("cut", true);
            } else if (!children.isEmpty()) {
                json.writeArrayFieldStart("children");
                for (CallTree.Node child : children) {
                    node(child, depth + 1);
                }
                json.writeEndArray();
            }
            json.writeEndObject();
        }

        private void frame(Frame frame) throws IOException {
            string("name", frame.name());
            string("module", frame.module());
            string("kind", frame.kind().name().toLowerCase(Locale.ROOT));
            if (frame.inlined()) {
                json.writeBooleanField("inlined", true);
            }
            if (!frame.file().isEmpty()) {
                string("file", frame.file());
                json.writeNumberField("line", frame.line());
            }
        }

        private void timeline(Timeline timeline) throws IOException {
            string("kind", "timeline");
            string("unit", unit(Unit.TIMESTAMP));
            json.writeNumberField("start", timeline.start());
            json.writeNumberField("end", timeline.end());
            json.writeArrayFieldStart("states");
            for (String state : timeline.states()) {
                json.writeString(TextEscape.wellFormed(state));
            }
            json.writeEndArray();
            json.writeArrayFieldStart("tracks");
            for (TimelineRow track : timeline.tracks()) {
                json.writeStartObject();
                string("name", track.name());
                json.writeNumberField("pid", track.pid());
                json.writeNumberField("tid", track.tid());
                longs("starts", track.starts());
                longs("ends", track.ends());
                json.writeArrayFieldStart("states");
                for (byte state : track.spanStates()) {
                    json.writeNumber(state);
                }
                json.writeEndArray();
                json.writeEndObject();
            }
            json.writeEndArray();
            stacks(timeline.stacks());
            json.writeArrayFieldStart("samples");
            for (TimelineSamples samples : timeline.samples()) {
                json.writeStartObject();
                string("name", samples.name());
                string("unit", unit(samples.unit()));
                longs("time", samples.time());
                ints("track", samples.track());
                ints("node", samples.node());
                longs("weight", samples.weight());
                longs("count", samples.count());
                longs("lasts", samples.lasts());
                json.writeEndObject();
            }
            json.writeEndArray();
        }

        private void stacks(CallChains stacks) throws IOException {
            json.writeObjectFieldStart("stacks");
            json.writeArrayFieldStart("frames");
            for (Frame frame : stacks.frames()) {
                json.writeStartObject();
                frame(frame);
                json.writeEndObject();
            }
            json.writeEndArray();
            ints("parent", stacks.parent());
            ints("frame", stacks.frame());
            json.writeEndObject();
        }

        private void ints(String name, int[] values) throws IOException {
            json.writeFieldName(name);
            json.writeArray(values, 0, values.length);
        }

        private void longs(String name, long[] values) throws IOException {
            json.writeFieldName(name);
            json.writeArray(values, 0, values.length);
        }

        private void string(String name, String value) throws IOException {
            json.writeStringField(name, TextEscape.wellFormed(value));
        }
    }

    /** Keys of one object: a second one of the same spelling gets {@code _2}. */
    private static final class Keys {
        private final Set<String> used = new HashSet<>();

        String next(String title) {
            String key = key(title);
            String unique = key;
            for (int n = 2; !used.add(unique); n++) {
                unique = key + "_" + n;
            }
            return unique;
        }
    }
}
