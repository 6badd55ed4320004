package sonde.recording;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import sonde.event.EventType;
import sonde.event.Field;

/**
 * The rows that user-space traces and profiles have in common, whatever their format:
 *
 * <ul>
 *   <li>{@code slice:begin}, {@code slice:end}, {@code slice:complete} (with {@code dur}), {@code
 *       slice:instant}: spans of a thread, nested; with an {@code id} those of their own track
 *   <li>{@code slice:flow}: an arrow's start (s), step (t) or end (f)
 *   <li>{@code slice:track}: the name of a track
 *   <li>{@code counter:value}
 *   <li>{@code perf:NAME}, or {@code profile:NAME} for those that say where time went: samples,
 *       whose weight and call chain the row has
 *   <li>{@code perf_record:comm}: the name of a thread; {@code trace:process}: of a process
 *   <li>{@code notice:lost}, {@code notice:corrupt}
 * </ul>
 */
public final class TraceRows {
    private final RowStore rows;
    private final Map<String, RowShape> shapes = new HashMap<>();
    private String counted = "";

    /** Rows go there. */
    public TraceRows(RowStore rows) {
        this.rows = rows;
    }

    /** A type and its fields in order. */
    private record RowShape(EventType type, Field[] fields) {
        static RowShape of(EventType type) {
            return new RowShape(type, type.fields().toArray(new Field[0]));
        }
    }

    /**
     * Whose row it is.
     *
     * @param time in the recording's clock
     * @param cpu -1 when unknown
     * @param pid -1 when unknown
     * @param tid -1 when unknown
     */
    public record RowOrigin(long time, int cpu, int pid, int tid) {}

    /**
     * What a slice says.
     *
     * @param track equal for the slices that nest
     * @param id empty for slices of a thread, else what tells apart tracks that belong to none
     * @param args a JSON object, or empty
     */
    public record TracedSlice(long track, String name, String category, String id, String args) {}

    /** The store. */
    public RowStore store() {
        return rows;
    }

    private RowShape shape(String system, String name, Function<TypeBuilder, TypeBuilder> fields) {
        String key = system + ':' + name;
        RowShape known = shapes.get(key);
        if (known == null) {
            known = RowShape.of(rows.type(fields.apply(new TypeBuilder(system, name))));
            shapes.put(key, known);
        }
        return known;
    }

    /** The type of rows of the format's own, made on first use; fields by position. */
    public EventType type(String system, String name, Function<TypeBuilder, TypeBuilder> fields) {
        return shape(system, name, fields).type;
    }

    /** Begins a row that knows its process. */
    public RowStore begin(RowOrigin place, EventType type) {
        return rows.begin(place.time, place.cpu, place.tid, type).sample(place.pid, 1);
    }

    private void slice(String kind, RowOrigin place, TracedSlice slice, long dur) {
        boolean complete = kind.equals("complete");
        RowShape shape =
                shape(
                        "slice",
                        kind,
                        type -> {
                            type.integer("track", 8, false);
                            if (complete) {
                                type.integer("dur", 8, false);
                            }
                            return type.text("name").text("category").text("id").text("args");
                        });
        Field[] fields = shape.fields;
        begin(place, shape.type).integer(fields[0], slice.track);
        int at = 1;
        if (complete) {
            rows.integer(fields[at++], dur);
        }
        rows.text(fields[at++], slice.name).text(fields[at++], slice.category);
        rows.text(fields[at++], slice.id).text(fields[at], slice.args);
    }

    /** A span begins. */
    public void begin(RowOrigin place, TracedSlice slice) {
        slice("begin", place, slice, 0);
        rows.end();
    }

    /** The innermost open span of the track ends; its name may be empty. */
    public void end(RowOrigin place, TracedSlice slice) {
        slice("end", place, slice, 0);
        rows.end();
    }

    /** A span whose length is known, in units of the clock. */
    public void complete(RowOrigin place, TracedSlice slice, long dur) {
        slice("complete", place, slice, dur);
        rows.end();
    }

    /** A moment; the chain may be 0. */
    public void instant(RowOrigin place, TracedSlice slice, int chain) {
        slice("instant", place, slice, 0);
        rows.stack(chain).end();
    }

    /** An arrow's start {@code s}, step {@code t} or end {@code f}. */
    public void flow(RowOrigin place, TracedSlice slice, char phase) {
        RowShape shape =
                shape(
                        "slice",
                        "flow",
                        type ->
                                type.integer("phase", 1, false)
                                        .text("name")
                                        .text("category")
                                        .text("id"));
        Field[] fields = shape.fields;
        begin(place, shape.type).integer(fields[0], phase).text(fields[1], slice.name);
        rows.text(fields[2], slice.category).text(fields[3], slice.id).end();
    }

    /** The name of a track. */
    public void track(RowOrigin place, long track, long parent, String name) {
        RowShape shape =
                shape(
                        "slice",
                        "track",
                        type ->
                                type.integer("track", 8, false)
                                        .integer("parent", 8, false)
                                        .text("name"));
        begin(place, shape.type).integer(shape.fields[0], track).integer(shape.fields[1], parent);
        rows.text(shape.fields[2], name).end();
    }

    /** A counter has a value from here on. */
    public void counter(RowOrigin place, long track, String name, String unit, double value) {
        RowShape shape =
                shape(
                        "counter",
                        "value",
                        type ->
                                type.integer("track", 8, false)
                                        .real("value")
                                        .text("name")
                                        .text("unit"));
        Field[] fields = shape.fields;
        begin(place, shape.type).integer(fields[0], track).real(fields[1], value);
        rows.text(fields[2], name).text(fields[3], unit).end();
    }

    /** Names the samples that say where time went: their system is {@code profile}. */
    public void counts(String event) {
        counted = event;
    }

    /** A sample of a counter, a clock or an allocator. */
    public void sample(RowOrigin place, String event, long weight, int chain) {
        RowShape shape = shape(event.equals(counted) ? "profile" : "perf", event, type -> type);
        rows.begin(place.time, place.cpu, place.tid, shape.type);
        rows.sample(place.pid, weight).stack(chain).end();
    }

    /** A thread's name from here on. */
    public void thread(RowOrigin place, String comm) {
        RowShape shape =
                shape(
                        EventType.PERF_RECORD,
                        "comm",
                        type -> type.integer("pid", 4, true).integer("tid", 4, true).text("comm"));
        begin(place, shape.type).integer(shape.fields[0], place.pid);
        rows.integer(shape.fields[1], place.tid).text(shape.fields[2], comm).end();
    }

    /** A process's name or command line. */
    public void process(RowOrigin place, int parent, String name) {
        RowShape shape =
                shape(
                        "trace",
                        "process",
                        type -> type.integer("pid", 4, true).integer("ppid", 4, true).text("name"));
        begin(place, shape.type).integer(shape.fields[0], place.pid);
        rows.integer(shape.fields[1], parent).text(shape.fields[2], name).end();
    }

    /** A line of a log. */
    public void log(RowOrigin place, int priority, String tag, String message) {
        RowShape shape =
                shape(
                        "log",
                        "message",
                        type -> type.integer("priority", 1, false).text("tag").text("message"));
        begin(place, shape.type).integer(shape.fields[0], priority);
        rows.text(shape.fields[1], tag).text(shape.fields[2], message).end();
    }

    /** What belongs to the recording as a whole: the host, the program's version, a setting. */
    public void metadata(RowOrigin place, String name, String value) {
        RowShape shape = shape("trace", "metadata", type -> type.text("name").text("value"));
        begin(place, shape.type).text(shape.fields[0], name).text(shape.fields[1], value).end();
    }

    /** Events were lost before this; 0 when their number is unknown. */
    public void lost(RowOrigin place, long count) {
        RowShape shape = shape(EventType.NOTICE, "lost", type -> type);
        rows.begin(place.time, place.cpu, place.tid, shape.type).sample(place.pid, count).end();
    }

    /** A part that could not be read. */
    public void corrupt(long time) {
        rows.begin(time, -1, -1, shape(EventType.NOTICE, "corrupt", type -> type).type).end();
    }

    /** The field at a position of a type that {@link #type} made. */
    public static Field field(EventType type, int position) {
        return type.fields().get(position);
    }
}
