package sonde.format.export;

import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import sonde.event.Clock;
import sonde.event.result.Frame;
import sonde.format.ProtoBuffer;

/**
 * pprof (profile.proto), gzipped as its tools expect: weights by call chain and thread, an event a
 * type of samples. Times are not kept.
 */
final class PprofWriter implements ExportWriter {
    private final Map<String, Integer> strings = new LinkedHashMap<>();
    private final Map<String, Integer> types = new LinkedHashMap<>();
    private final Map<String, String> units = new HashMap<>();
    private final Map<Key, Map<Integer, Long>> sums = new LinkedHashMap<>();
    private final Stacks<List<Frame>> stacks = new Stacks<>();

    /** What is looked at first of several: samples of where time goes. */
    private static final List<String> TIMES =
            List.of("cycles", "cpu-cycles", "cpu-clock", "task-clock");

    private record Key(int node, int pid, int tid) {}

    @Override
    public void write(ExportRows rows, OutputStream out, Losses losses) throws IOException {
        string("");
        long first = -1;
        long last = 0;
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            first = first <= 0 ? row.time() : first; // perf tells what was there at 0
            last = row.time();
            if (row.is("trace", "metadata") && row.text("name").startsWith("unit:")) {
                units.put(row.text("name").substring(5), row.text("value"));
            } else if (row.isSample() || row.batch.stackDepth(row.row) > 0) {
                String name = row.isSample() ? row.type.name() : row.type.qualifiedName();
                int type = types.computeIfAbsent(name, ignored -> types.size());
                Key key = new Key(stacks.node(row.places()), row.pid(), row.tid());
                sums.computeIfAbsent(key, ignored -> new HashMap<>())
                        .merge(type, row.batch.weight(row.row), Long::sum);
            } else {
                losses.add(row.type.qualifiedName());
            }
        }
        ProtoBuffer profile = new ProtoBuffer();
        types.keySet()
                .forEach(name ->
                        profile.message(
                                1,
                                new ProtoBuffer()
                                        .integer(1, string(name))
                                        .integer(2, string(unit(name)))));
        sums.forEach((key, values) -> profile.message(2, sample(key, values)));
        places(profile);
        // Without a word pprof shows the last.
        TIMES.stream()
                .filter(types::containsKey)
                .findFirst()
                .ifPresent(name -> profile.integer(14, string(name)));
        strings.keySet().forEach(text -> profile.text(6, text));
        if (rows.clock() == Clock.REALTIME && first > 0) {
            profile.integer(9, first);
        }
        profile.integer(10, Math.max(0, last - Math.max(0, first)));
        GZIPOutputStream zipped = new GZIPOutputStream(out, 1 << 16);
        profile.drainTo(zipped);
        zipped.finish();
    }

    private int string(String text) {
        return strings.computeIfAbsent(text, ignored -> strings.size());
    }

    private String unit(String type) {
        String known = units.get(type);
        if (known != null) {
            return known;
        }
        return switch (type) {
            case "cpu-clock", "task-clock", "cpu", "wall" -> "nanoseconds";
            case "heap", "bytes" -> "bytes";
            default -> "count";
        };
    }

    private ProtoBuffer sample(Key key, Map<Integer, Long> values) {
        int depth = 0;
        for (int at = key.node; at >= 0; at = stacks.nodes.get(at).prefix()) {
            depth++;
        }
        long[] locations = new long[depth];
        int i = 0;
        for (int at = key.node; at >= 0; at = stacks.nodes.get(at).prefix()) {
            locations[i++] = stacks.nodes.get(at).frame() + 1L;
        }
        long[] columns = new long[types.size()];
        values.forEach((type, value) -> columns[type] = value);
        ProtoBuffer sample = new ProtoBuffer().packed(1, locations).packed(2, columns);
        if (key.pid >= 0) {
            sample.message(3, new ProtoBuffer().integer(1, string("pid")).integer(3, key.pid));
        }
        if (key.tid >= 0) {
            sample.message(3, new ProtoBuffer().integer(1, string("tid")).integer(3, key.tid));
        }
        return sample;
    }

    /** A function of a source file; of none where that is not known. */
    private record Function(String name, String file) {}

    /** What is told of a mapping: its number, and whether there are files and inlined calls. */
    private static final class Module {
        final int id;
        boolean files;
        boolean inlines;

        Module(int id) {
            this.id = id;
        }
    }

    /** A mapping for each module, a location for each place in it, with a line for each call. */
    private void places(ProtoBuffer profile) {
        Map<String, Module> modules = new LinkedHashMap<>();
        Map<Function, Integer> functions = new LinkedHashMap<>();
        for (int i = 0; i < stacks.frames.size(); i++) {
            List<Frame> calls = stacks.frames.get(i);
            Module module =
                    modules.computeIfAbsent(
                            calls.getLast().module(), ignored -> new Module(modules.size() + 1));
            module.inlines |= calls.size() > 1;
            ProtoBuffer location = new ProtoBuffer().integer(1, i + 1L).integer(2, module.id);
            for (Frame call : calls) {
                module.files |= !call.file().isEmpty();
                Function function = new Function(call.name(), call.file());
                int id = functions.computeIfAbsent(function, ignored -> functions.size() + 1);
                location.message(4, new ProtoBuffer().integer(1, id).integer(2, call.line()));
            }
            profile.message(4, location);
        }
        modules.forEach((name, module) ->
                profile.message(
                        3,
                        new ProtoBuffer()
                                .integer(1, module.id)
                                .integer(5, string(name))
                                .integer(7, 1)
                                .integer(8, module.files ? 1 : 0)
                                .integer(9, module.files ? 1 : 0)
                                .integer(10, module.inlines ? 1 : 0)));
        functions.forEach((function, id) ->
                profile.message(
                        5,
                        new ProtoBuffer()
                                .integer(1, id)
                                .integer(2, string(function.name()))
                                .integer(4, string(function.file()))));
    }
}
