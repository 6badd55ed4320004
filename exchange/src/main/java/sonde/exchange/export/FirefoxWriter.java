package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.event.Clock;
import sonde.event.result.Frame;
import sonde.recording.JsonString;

/**
 * A processed profile of version 48, which the Firefox Profiler upgrades itself: a thread for each
 * thread and event of samples, all other rows as markers, counters.
 */
final class FirefoxWriter implements ExportWriter {
    private final Map<String, FirefoxThread> tracks = new LinkedHashMap<>();
    private final Map<String, StringBuilder[]> counters = new LinkedHashMap<>();
    private final Map<Integer, String> names = new LinkedHashMap<>();
    private final Map<String, Integer> categories = new LinkedHashMap<>();
    private long base;

    /**
     * A frame with what tells it apart in Firefox.
     *
     * @param depth how many calls around it were inlined at the same place, with the function
     */
    private record Placed(Frame frame, int depth) {}

    private static List<Placed> placed(List<List<Frame>> places) {
        List<Placed> all = new ArrayList<>();
        for (List<Frame> calls : places) {
            for (int i = 0; i < calls.size(); i++) {
                all.add(new Placed(calls.get(i), calls.size() - 1 - i));
            }
        }
        return all;
    }

    /** A function as its table has it: at any of its lines. */
    private record Function(String name, String module, String file, boolean script) {}

    /** A thread as it grows. */
    private static final class FirefoxThread {
        final int pid;
        final int tid;
        String event = "";
        final StackNumbers<Placed> stacks = new StackNumbers<>();
        final Map<String, Integer> strings = new LinkedHashMap<>();
        final JsonColumns samples = new JsonColumns("stack", "time", "weight");
        final JsonColumns markers =
                new JsonColumns("name", "category", "phase", "startTime", "endTime", "data");

        FirefoxThread(int pid, int tid) {
            this.pid = pid;
            this.tid = tid;
        }

        int string(String text) {
            return strings.computeIfAbsent(text, ignored -> strings.size());
        }
    }

    /** A table as JSON: an array for each column. */
    private static final class JsonColumns {
        private final String[] names;
        private final StringBuilder[] values;
        private int length;

        JsonColumns(String... names) {
            this.names = names;
            this.values = new StringBuilder[names.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = new StringBuilder();
            }
        }

        void row(Object... row) {
            for (int i = 0; i < values.length; i++) {
                values[i].append(length == 0 ? "" : ",").append(row[i]);
            }
            length++;
        }

        StringBuilder appendTo(StringBuilder out, String more) {
            out.append("{\"length\":").append(length).append(more);
            for (int i = 0; i < names.length; i++) {
                out.append(",\"").append(names[i]).append("\":[").append(values[i]).append(']');
            }
            return out.append('}');
        }
    }

    @Override
    public void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException {
        category("Other");
        names.putAll(rows.comms());
        boolean first = true;
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            // Milliseconds of the wall clock would be rounded: they stand in meta.startTime.
            base = first && rows.clock() == Clock.REALTIME ? row.time() : base;
            first = false;
            row(row, losses);
        }
        StringBuilder text = new StringBuilder("{\"meta\":{\"preprocessedProfileVersion\":48,");
        text.append("\"version\":27,\"product\":\"sonde\",\"interval\":1,\"processType\":0,");
        text.append("\"stackwalk\":1,\"startTime\":").append(base / 1_000_000);
        text.append(",\"markerSchema\":[],\"categories\":[");
        String before = "";
        for (String name : categories.keySet()) {
            JsonString.append(text.append(before).append("{\"name\":"), name);
            text.append(",\"color\":\"grey\",\"subcategories\":[\"Other\"]}");
            before = ",";
        }
        text.append("]},\n\"libs\":[],\"pages\":[],\"threads\":[");
        before = "\n";
        for (FirefoxThread track : tracks.values()) {
            thread(track, text.append(before));
            before = ",\n";
            if (text.length() > 1 << 20) {
                JsonLinesWriter.drain(text, out);
            }
        }
        text.append("],\n\"counters\":[");
        before = "\n";
        for (Map.Entry<String, StringBuilder[]> counter : counters.entrySet()) {
            counter(counter.getKey(), counter.getValue(), text.append(before));
            before = ",\n";
        }
        JsonLinesWriter.drain(text.append("]}\n"), out);
    }

    private int category(String name) {
        return categories.computeIfAbsent(
                name.isEmpty() ? "Other" : name, ignored -> categories.size());
    }

    private String millis(long nanos) {
        long relative = nanos - base;
        long whole = Math.floorDiv(relative, 1_000_000);
        return whole + "." + String.format("%06d", Math.floorMod(relative, 1_000_000));
    }

    private FirefoxThread track(ExportRow row, String event) {
        String plain = row.pid() + " " + row.tid();
        FirefoxThread of =
                tracks.computeIfAbsent(plain, ignored -> new FirefoxThread(row.pid(), row.tid()));
        if (event.isEmpty() || of.event.isEmpty() || of.event.equals(event)) {
            of.event = event.isEmpty() ? of.event : event;
            return of;
        }
        FirefoxThread other =
                tracks.computeIfAbsent(
                        plain + " " + event, ignored -> new FirefoxThread(row.pid(), row.tid()));
        other.event = event;
        return other;
    }

    private void row(ExportRow row, ExportLosses losses) {
        if (row.is("perf_record", "comm")) {
            names.put(row.tid(), row.text("comm"));
        } else if (row.isSample()) {
            FirefoxThread track = track(row, row.type.name());
            int node = track.stacks.node(placed(row.places()));
            long weight = row.batch.weight(row.row);
            boolean time = SampleUnits.isClock(track.event);
            String shown =
                    time
                            ? weight / 1_000_000 + "." + String.format("%06d", weight % 1_000_000)
                            : Long.toString(weight);
            track.samples.row(node < 0 ? "null" : node, millis(row.time()), shown);
        } else if (row.is("counter", "value")) {
            StringBuilder[] columns =
                    counters.computeIfAbsent(
                            row.pid() + " " + row.text("name"),
                            ignored ->
                                    new StringBuilder[] {new StringBuilder(), new StringBuilder()});
            String before = columns[0].isEmpty() ? "" : ",";
            columns[0].append(before).append(millis(row.time()));
            JsonString.append(columns[1].append(before), row.real("value"));
        } else if (row.is("slice", "track") || row.is("trace", "process") || row.isNotice()) {
            losses.add(row.type.qualifiedName());
        } else {
            marker(row);
        }
    }

    private void marker(ExportRow row) {
        FirefoxThread track = track(row, "");
        boolean slice = row.type.system().equals("slice");
        String name = slice ? row.text("name") : row.type.qualifiedName();
        int category = category(slice ? row.text("category") : row.type.system());
        StringBuilder data = new StringBuilder();
        if (slice) {
            data.append(row.text("args"));
        } else {
            RowJson.json(row, data);
        }
        if (data.length() <= 2) {
            data.setLength(0);
            data.append("null");
        } else if (!data.toString().startsWith("{\"type\":")) {
            StringBuilder typed = JsonString.append(new StringBuilder("{\"type\":"), name);
            data.replace(0, 1, typed.append(',').toString());
        }
        String start = millis(row.time());
        int text = track.string(name);
        switch (slice ? row.type.name() : "") {
            case "begin" -> track.markers.row(text, category, 2, start, "null", data);
            case "end" -> track.markers.row(text, category, 3, "null", start, data);
            case "complete" -> {
                String end = millis(row.time() + row.integer("dur", 0));
                track.markers.row(text, category, 1, start, end, data);
            }
            default -> track.markers.row(text, category, 0, start, "null", data);
        }
    }

    /** Fills the tables of frames and functions, and names the modules that these are in. */
    private static void places(
            FirefoxThread track,
            JsonColumns frames,
            JsonColumns functions,
            Map<String, Integer> modules) {
        Map<Function, Integer> numbers = new LinkedHashMap<>();
        for (Placed placed : track.stacks.frames) {
            Frame frame = placed.frame();
            boolean script = frame.kind() == Frame.Kind.JIT;
            Function function = new Function(frame.name(), frame.module(), frame.file(), script);
            int number = numbers.computeIfAbsent(function, ignored -> numbers.size());
            Object line = frame.line() > 0 ? frame.line() : "null";
            frames.row(number, -1, placed.depth(), 0, 0, "null", "null", "null", line, "null");
        }
        for (Function function : numbers.keySet()) {
            int resource =
                    function.module().isEmpty()
                            ? -1
                            : modules.computeIfAbsent(function.module(), ignored -> modules.size());
            int name = track.string(function.name());
            Object file = function.file().isEmpty() ? "null" : track.string(function.file());
            functions.row(name, function.script(), false, resource, file, "null", "null");
        }
    }

    private void thread(FirefoxThread track, StringBuilder text) {
        JsonColumns frames =
                new JsonColumns(
                        "func",
                        "address",
                        "inlineDepth",
                        "category",
                        "subcategory",
                        "nativeSymbol",
                        "innerWindowID",
                        "implementation",
                        "line",
                        "column");
        JsonColumns functions =
                new JsonColumns(
                        "name",
                        "isJS",
                        "relevantForJS",
                        "resource",
                        "fileName",
                        "lineNumber",
                        "columnNumber");
        JsonColumns resources = new JsonColumns("name", "lib", "host", "type");
        Map<String, Integer> modules = new LinkedHashMap<>();
        places(track, frames, functions, modules);
        // 1 is a library (ResourceTable type)
        modules.keySet().forEach(name -> resources.row(track.string(name), "null", "null", 1));
        JsonColumns stacks = new JsonColumns("frame", "prefix", "category", "subcategory");
        for (StackNumbers.Node node : track.stacks.nodes) {
            stacks.row(node.frame(), node.prefix() < 0 ? "null" : node.prefix(), 0, 0);
        }
        String name = names.getOrDefault(track.tid, "thread " + track.tid);
        JsonString.append(text.append("{\"name\":"), name);
        text.append(",\"processType\":\"default\",\"processStartupTime\":0,");
        text.append("\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,");
        text.append("\"pausedRanges\":[],\"isMainThread\":").append(track.pid == track.tid);
        text.append(",\"pid\":\"").append(track.pid).append("\",\"tid\":").append(track.tid);
        boolean bytes = SampleUnits.unit(track.event).equals(SampleUnits.BYTES);
        String type = SampleUnits.isClock(track.event) ? "tracing-ms" : bytes ? "bytes" : "samples";
        track.samples.appendTo(text.append(",\n\"samples\":"), ",\"weightType\":\"" + type + "\"");
        track.markers.appendTo(text.append(",\n\"markers\":"), "");
        stacks.appendTo(text.append(",\n\"stackTable\":"), "");
        frames.appendTo(text.append(",\n\"frameTable\":"), "");
        functions.appendTo(text.append(",\n\"funcTable\":"), "");
        resources.appendTo(text.append(",\n\"resourceTable\":"), "");
        JsonColumns symbols = new JsonColumns("libIndex", "address", "name", "functionSize");
        symbols.appendTo(text.append(",\n\"nativeSymbols\":"), "");
        text.append(",\n\"stringArray\":[");
        String before = "";
        for (String string : track.strings.keySet()) {
            JsonString.append(text.append(before), string);
            before = ",";
        }
        text.append("]}");
    }

    private static void counter(String key, StringBuilder[] columns, StringBuilder text) {
        int blank = key.indexOf(' ');
        JsonString.append(text.append("{\"name\":"), key.substring(blank + 1));
        text.append(",\"category\":\"Other\",\"description\":\"\",\"pid\":\"");
        text.append(key, 0, blank).append("\",\"mainThreadIndex\":0,\"samples\":{\"length\":");
        long count = columns[0].chars().filter(c -> c == ',').count() + 1;
        text.append(count).append(",\"time\":[").append(columns[0]).append("],\"count\":[");
        text.append(columns[1]).append("]}}");
    }
}
