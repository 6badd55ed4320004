package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import sonde.event.Clock;
import sonde.event.result.Frame;
import sonde.exchange.ProtoBuffer;
import sonde.exchange.export.ExportRow.Located;
import sonde.recording.perfdata.PerfAbi;
import sonde.recording.perfdata.PerfAttr;

/**
 * pprof (profile.proto), gzipped as its tools expect: weights by call chain and thread, an event a
 * type of samples. Times are not kept.
 */
final class PprofWriter implements ExportWriter {
    private final Map<String, Integer> strings = new LinkedHashMap<>();
    private final Map<String, Integer> types = new LinkedHashMap<>();
    private final Map<String, String> units = new HashMap<>();
    private final Map<Key, Map<Integer, Long>> sums = new LinkedHashMap<>();
    private final Map<String, Long> periods = new HashMap<>();
    private String statedType = "";
    private String statedPeriod = "";
    private final StackNumbers<Located> stacks = new StackNumbers<>();

    private record Key(int node, int pid, int tid) {}

    @Override
    public void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException {
        string("");
        long first = -1;
        long last = 0;
        for (ExportRow row = rows.next(); row != null; row = rows.next()) {
            first = first <= 0 ? row.time() : first; // perf tells what was there at 0
            last = row.time();
            if (row.is("trace", "metadata") && metadata(row.text("name"), row.text("value"))) {
                continue;
            }
            if (row.isSample() || row.batch.stackDepth(row.row) > 0) {
                String name = row.isSample() ? row.type.name() : row.type.qualifiedName();
                int type = types.computeIfAbsent(name, ignored -> types.size());
                Key key = new Key(stacks.node(row.located()), row.pid(), row.tid());
                sums.computeIfAbsent(key, ignored -> new HashMap<>())
                        .merge(type, row.batch.weight(row.row), Long::sum);
                if (!periods.containsKey(name)) {
                    periods.put(name, period(row));
                }
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
        Optional<String> time = types.keySet().stream().filter(SampleUnits::isOfTime).findFirst();
        time.ifPresent(name -> profile.integer(14, string(name)));
        period(profile, time.or(() -> types.keySet().stream().findFirst()).orElse(""));
        strings.keySet().forEach(text -> profile.text(6, text));
        if (rows.clock() == Clock.REALTIME && first > 0) {
            profile.integer(9, first);
        }
        profile.integer(10, Math.max(0, last - Math.max(0, first)));
        GZIPOutputStream zipped = new GZIPOutputStream(out, 1 << 16);
        profile.drainTo(zipped);
        zipped.finish();
    }

    /** What a profile that was read said of itself. */
    private boolean metadata(String name, String value) {
        if (name.startsWith("unit:")) {
            units.put(name.substring(5), value);
        } else if (name.equals("period_type")) {
            statedType = value;
        } else if (name.equals("period")) {
            statedPeriod = value;
        } else {
            return false;
        }
        return true;
    }

    /** What lies between two samples, in the unit of their type. */
    private void period(ProtoBuffer profile, String type) {
        int blank = statedType.indexOf(' ');
        long stated = blank < 0 ? 0 : number(statedPeriod);
        long period = stated > 0 ? stated : periods.getOrDefault(type, 0L);
        if (period > 0) {
            String of = stated > 0 ? statedType.substring(0, blank) : type;
            String unit = stated > 0 ? statedType.substring(blank + 1) : unit(type);
            ProtoBuffer pair = new ProtoBuffer().integer(1, string(of)).integer(2, string(unit));
            profile.message(11, pair).integer(12, period);
        }
    }

    private static long number(String text) {
        return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : 0;
    }

    /** As the recorder was asked; else what the sample stands for. */
    private static long period(ExportRow row) {
        Optional<PerfAttr> attr = SampledType.attr(row.recording, row.type);
        boolean clock = SampleUnits.isClock(row.type.name());
        long asked = attr.map(PerfAttr::samplePeriod).orElse(0L);
        boolean frequency = attr.isPresent() && attr.get().has(PerfAbi.FLAG_FREQ);
        if (frequency && clock && asked > 0) {
            return 1_000_000_000 / asked;
        }
        return asked > 0 && !frequency ? asked : row.batch.weight(row.row);
    }

    private int string(String text) {
        return strings.computeIfAbsent(text, ignored -> strings.size());
    }

    private String unit(String type) {
        String known = units.get(type);
        return known != null ? known : SampleUnits.unit(type);
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

    /** A location for each place, with a line for each call, in the mappings they lie in. */
    private void places(ProtoBuffer profile) {
        PprofMappings mappings = new PprofMappings();
        long[] uses = uses();
        for (int i = 0; i < stacks.frames.size(); i++) {
            mappings.add(stacks.frames.get(i), uses[i]);
        }
        mappings.write(profile, this::string);
        Map<Function, Integer> functions = new LinkedHashMap<>();
        for (int i = 0; i < stacks.frames.size(); i++) {
            Located located = stacks.frames.get(i);
            ProtoBuffer location =
                    new ProtoBuffer().integer(1, i + 1L).integer(2, mappings.number(located));
            CodePlace place = located.place();
            if (place != null) {
                location.integer(3, place.address());
            }
            for (Frame call : located.calls()) {
                Function function = new Function(call.name(), call.file());
                int id = functions.computeIfAbsent(function, ignored -> functions.size() + 1);
                location.message(4, new ProtoBuffer().integer(1, id).integer(2, call.line()));
            }
            profile.message(4, location);
        }
        functions.forEach((function, id) ->
                profile.message(
                        5,
                        new ProtoBuffer()
                                .integer(1, id)
                                .integer(2, string(function.name()))
                                .integer(4, string(function.file()))));
    }

    /** How often each place is in the chain of a sample. */
    private long[] uses() {
        long[] uses = new long[stacks.frames.size()];
        for (Key key : sums.keySet()) {
            for (int at = key.node; at >= 0; at = stacks.nodes.get(at).prefix()) {
                uses[stacks.nodes.get(at).frame()]++;
            }
        }
        return uses;
    }
}
