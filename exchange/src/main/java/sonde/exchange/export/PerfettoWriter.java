package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.event.Clock;
import sonde.event.Field;
import sonde.event.result.Frame;
import sonde.exchange.ProtoBuffer;
import sonde.exchange.perfetto.FtraceEvents;
import sonde.exchange.perfetto.FtraceEvents.ProtoEvent;
import sonde.exchange.perfetto.FtraceEvents.ProtoField;

/**
 * Perfetto's packets: rows of a CPU as ftrace events (those that Perfetto has no message for as
 * generic ones), slices, counters and moments as track events, samples with interned stacks.
 */
final class PerfettoWriter implements ExportWriter {
    private static final int PACKET = 1;
    private static final int EVENTS_SEQUENCE = 1;
    private static final int GENERIC = 327;
    private static final int MOST_OF_BUNDLE = 256;
    private static final int BOOTTIME = 6;

    private final Map<Integer, ProtoBuffer> bundles = new LinkedHashMap<>();
    private final Map<Integer, Integer> bundled = new HashMap<>();
    private final Map<Integer, String> unnamed = new HashMap<>();
    private final Set<Long> described = new HashSet<>();
    private final Map<String, Interning> sequences = new LinkedHashMap<>();
    private OutputStream out = OutputStream.nullOutputStream();
    private long clock = BOOTTIME;

    /** What a sequence of packets has said of functions, modules, frames and chains. */
    private static final class Interning {
        final int sequence;
        final Map<String, Integer> functions = new HashMap<>();
        final Map<String, Integer> modules = new HashMap<>();
        final StackNumbers<Frame> stacks = new StackNumbers<>();
        int frames;
        int chains;
        boolean begun;
        long period = -1;

        Interning(int sequence) {
            this.sequence = sequence;
        }

        /** The number of a chain, 0 for none; what it needs is added to {@code data}. */
        long chain(List<Frame> chain, ProtoBuffer data) {
            int node = stacks.node(chain);
            while (frames < stacks.frames.size()) {
                frame(stacks.frames.get(frames), data);
            }
            while (chains < stacks.nodes.size()) {
                ProtoBuffer entry = new ProtoBuffer().integer(1, ++chains);
                // From the node outwards, then written caller first.
                ArrayDeque<Integer> order = new ArrayDeque<>();
                for (int at = chains - 1; at >= 0; at = stacks.nodes.get(at).prefix()) {
                    order.addFirst(stacks.nodes.get(at).frame());
                }
                order.forEach(frame -> entry.integer(2, frame + 1L));
                data.message(7, entry);
            }
            return node + 1L;
        }

        private void frame(Frame frame, ProtoBuffer data) {
            int function = interned(functions, frame.name(), 5, data);
            int known = modules.size();
            int module = interned(modules, frame.module(), 17, data);
            if (modules.size() > known) {
                data.message(19, new ProtoBuffer().integer(1, module).integer(7, module));
            }
            ProtoBuffer entry = new ProtoBuffer().integer(1, ++frames).integer(2, function);
            data.message(6, entry.integer(3, module).integer(4, 0));
        }

        private static int interned(
                Map<String, Integer> known, String text, int field, ProtoBuffer data) {
            Integer id = known.get(text);
            if (id == null) {
                id = known.size() + 1;
                known.put(text, id);
                data.message(field, new ProtoBuffer().integer(1, id).text(2, text));
            }
            return id;
        }
    }

    @Override
    public void write(ExportRows rows, OutputStream to, ExportLosses losses) throws IOException {
        out = to;
        unnamed.putAll(rows.comms());
        clock =
                switch (rows.clock()) {
                    case REALTIME -> 1;
                    case MONO -> 3;
                    case MONO_RAW -> 5;
                    default -> BOOTTIME;
                };
        if (rows.clock() == Clock.COUNTER || rows.clock() == Clock.X86_TSC) {
            losses.add("unit of time: it is no nanosecond");
        }
        ExportRow row = rows.next();
        snapshot(row == null ? 0 : row.time());
        for (; row != null; row = rows.next()) {
            row(row, losses);
        }
        for (int cpu : List.copyOf(bundles.keySet())) {
            flush(cpu);
        }
    }

    private void packet(ProtoBuffer packet) throws IOException {
        new ProtoBuffer().message(PACKET, packet).drainTo(out);
    }

    /** All clocks show the same: times need no conversion. */
    private void snapshot(long time) throws IOException {
        ProtoBuffer snapshot = new ProtoBuffer();
        snapshot.message(1, new ProtoBuffer().integer(1, BOOTTIME).integer(2, time));
        if (clock != BOOTTIME) {
            snapshot.message(1, new ProtoBuffer().integer(1, clock).integer(2, time));
        }
        snapshot.integer(2, clock);
        packet(new ProtoBuffer().integer(10, EVENTS_SEQUENCE).integer(13, 1).message(6, snapshot));
    }

    private ProtoBuffer packetAt(long time, int sequence) {
        return new ProtoBuffer().integer(8, time).integer(58, clock).integer(10, sequence);
    }

    /** Names that the recording knows besides its rows, at each thread's first row. */
    private void name(ExportRow row) throws IOException {
        String comm = unnamed.remove(row.tid());
        if (comm != null && !row.is("perf_record", "comm")) {
            thread(row, comm);
        }
    }

    private void thread(ExportRow row, String comm) throws IOException {
        ProtoBuffer thread = new ProtoBuffer().integer(1, row.tid());
        thread.integer(3, row.pid()).text(2, comm);
        ProtoBuffer tree = new ProtoBuffer().message(2, thread);
        packet(packetAt(row.time(), EVENTS_SEQUENCE).message(2, tree));
    }

    private void row(ExportRow row, ExportLosses losses) throws IOException {
        name(row);
        String name = row.type.qualifiedName();
        switch (name) {
            case "slice:begin", "slice:end", "slice:complete", "slice:instant" -> slice(row);
            case "slice:flow" -> flow(row);
            case "slice:track" -> track(row);
            case "counter:value" -> counter(row);
            case "perf_record:comm" -> thread(row, row.text("comm"));
            case "trace:process" -> {
                ProtoBuffer process = new ProtoBuffer().integer(1, row.pid());
                process.integer(2, row.integer("ppid", 0)).text(3, row.text("name"));
                ProtoBuffer tree = new ProtoBuffer().message(1, process);
                packet(packetAt(row.time(), EVENTS_SEQUENCE).message(2, tree));
            }
            case "notice:lost" -> lost(row, losses);
            default -> {
                if (row.isSample()) {
                    sample(row);
                } else if (row.isNotice()) {
                    losses.add(name);
                } else if (row.cpu() >= 0) {
                    ftrace(row, losses);
                } else {
                    moment(row);
                }
            }
        }
    }

    private void lost(ExportRow row, ExportLosses losses) throws IOException {
        if (row.cpu() < 0) {
            losses.add("notice:lost without a CPU");
            return;
        }
        if (bundled.getOrDefault(row.cpu(), -1) == 0) {
            losses.add("notice:lost right behind another");
        }
        flush(row.cpu());
        bundles.put(row.cpu(), new ProtoBuffer().integer(1, row.cpu()).integer(3, 1));
        bundled.put(row.cpu(), 0);
        if (row.batch.weight(row.row) > 0) {
            losses.add("count of a notice:lost");
        }
    }

    private void flush(int cpu) throws IOException {
        ProtoBuffer bundle = bundles.remove(cpu);
        if (bundle != null) {
            packet(new ProtoBuffer().integer(10, EVENTS_SEQUENCE).message(1, bundle));
        }
        bundled.remove(cpu);
    }

    private void ftrace(ExportRow row, ExportLosses losses) throws IOException {
        ProtoBuffer event = new ProtoBuffer().integer(1, row.time());
        if (row.tid() >= 0) {
            event.integer(2, row.tid());
        }
        ProtoEvent known =
                FtraceEvents.named(row.type.system(), row.type.name())
                        .filter(one -> holds(one, row))
                        .orElse(null);
        if (known == null) {
            event.message(GENERIC, generic(row));
        } else {
            event.message(known.number(), typed(known, row));
        }
        if (row.batch.stackDepth(row.row) > 0) {
            losses.add("stack of " + row.type.qualifiedName());
        }
        ProtoBuffer bundle = bundles.get(row.cpu());
        if (bundle == null) {
            bundle = new ProtoBuffer().integer(1, row.cpu());
            bundles.put(row.cpu(), bundle);
        }
        bundle.message(2, event);
        if (bundled.merge(row.cpu(), 1, Integer::sum) >= MOST_OF_BUNDLE) {
            flush(row.cpu());
        }
    }

    /** Whether the message has every field of the row. */
    private static boolean holds(ProtoEvent event, ExportRow row) {
        for (Field field : row.fields()) {
            boolean has =
                    event.members().stream()
                            .anyMatch(member ->
                                    member.name().equals(field.name())
                                            && member.isText() == field.isText()
                                            && (field.isText() || ExportRow.isInteger(field)));
            if (!has) {
                return false;
            }
        }
        return true;
    }

    private static ProtoBuffer typed(ProtoEvent event, ExportRow row) {
        ProtoBuffer message = new ProtoBuffer();
        for (ProtoField member : event.members()) {
            Field field = row.type.field(member.name()).orElse(null);
            if (field != null && member.isText()) {
                message.text(member.number(), row.text(field));
            } else if (field != null) {
                message.integer(member.number(), row.integer(field));
            }
        }
        return message;
    }

    private static ProtoBuffer generic(ExportRow row) {
        ProtoBuffer message = new ProtoBuffer().text(1, row.type.qualifiedName());
        for (Field field : row.fields()) {
            ProtoBuffer value = new ProtoBuffer().text(1, field.name());
            if (ExportRow.isInteger(field)) {
                value.integer(field.signed() ? 4 : 5, row.integer(field));
            } else {
                value.text(3, row.text(field));
            }
            message.message(2, value);
        }
        return message;
    }

    // Tracks of processes and threads that nobody described get numbers of their own.
    private static final long PROCESS_TRACK = 1L << 62;
    private static final long COUNTER_TRACK = 1L << 61;

    private long describe(long uuid, ExportRow row, boolean ofThread, String name)
            throws IOException {
        if (!described.add(uuid)) {
            return uuid;
        }
        ProtoBuffer track = new ProtoBuffer().integer(1, uuid);
        if (ofThread) {
            ProtoBuffer thread = new ProtoBuffer().integer(1, row.pid()).integer(2, row.tid());
            track.message(4, thread);
        } else {
            if (!name.isEmpty()) {
                track.text(2, name);
            }
            if (row.pid() >= 0) {
                long parent = process(row);
                track.integer(5, parent);
            }
        }
        packet(packetAt(row.time(), EVENTS_SEQUENCE).message(60, track));
        return uuid;
    }

    private long process(ExportRow row) throws IOException {
        long uuid = PROCESS_TRACK | row.pid();
        if (described.add(uuid)) {
            ProtoBuffer track = new ProtoBuffer().integer(1, uuid);
            track.message(3, new ProtoBuffer().integer(1, row.pid()));
            packet(packetAt(row.time(), EVENTS_SEQUENCE).message(60, track));
        }
        return uuid;
    }

    private long track(ExportRow row, String id) throws IOException {
        long given = row.integer("track", (long) row.pid() << 32 | row.tid() & 0xffff_ffffL);
        long uuid = given == 0 ? PROCESS_TRACK - 1 : given;
        return describe(uuid, row, id.isEmpty() && row.tid() >= 0, id);
    }

    private void track(ExportRow row) throws IOException {
        long uuid = row.integer("track", 0);
        if (!described.add(uuid)) {
            return;
        }
        ProtoBuffer track = new ProtoBuffer().integer(1, uuid).text(2, row.text("name"));
        long parent = row.integer("parent", 0);
        if (parent != 0) {
            track.integer(5, parent);
        }
        if (row.tid() >= 0) {
            track.message(4, new ProtoBuffer().integer(1, row.pid()).integer(2, row.tid()));
        } else if (row.pid() >= 0) {
            track.message(3, new ProtoBuffer().integer(1, row.pid()));
        }
        packet(packetAt(row.time(), EVENTS_SEQUENCE).message(60, track));
    }

    private ProtoBuffer event(ExportRow row, int type, long track) {
        ProtoBuffer event = new ProtoBuffer().integer(9, type).integer(11, track);
        String name = row.text("name");
        String category = row.text("category");
        if (!name.isEmpty()) {
            event.text(23, name);
        }
        if (!category.isEmpty()) {
            event.text(22, category);
        }
        JsonArguments.add(row.text("args"), event);
        return event;
    }

    private void slice(ExportRow row) throws IOException {
        long track = track(row, row.text("id"));
        String kind = row.type.name();
        int type = kind.equals("end") ? 2 : kind.equals("instant") ? 3 : 1;
        Interning interning = interning("");
        ProtoBuffer data = new ProtoBuffer();
        ProtoBuffer event = event(row, type, track);
        if (row.batch.stackDepth(row.row) > 0) {
            event.integer(56, interning.chain(row.frames(), data));
        }
        ProtoBuffer packet = packetAt(row.time(), EVENTS_SEQUENCE);
        if (data.size() > 0) {
            packet.message(12, data);
        }
        packet(packet.message(11, event));
        if (kind.equals("complete")) {
            ProtoBuffer end = new ProtoBuffer().integer(9, 2).integer(11, track);
            long time = row.time() + row.integer("dur", 0);
            packet(packetAt(time, EVENTS_SEQUENCE).message(11, end));
        }
    }

    private void flow(ExportRow row) throws IOException {
        long track = track(row, "");
        ProtoBuffer legacy = new ProtoBuffer().integer(2, row.integer("phase", 's'));
        legacy.integer(6, number(row.text("id")));
        ProtoBuffer event = event(row, 0, track).message(6, legacy);
        packet(packetAt(row.time(), EVENTS_SEQUENCE).message(11, event));
    }

    private static long number(String id) {
        try {
            return id.startsWith("0x")
                    ? Long.parseUnsignedLong(id.substring(2), 16)
                    : Long.parseLong(id);
        } catch (NumberFormatException e) {
            return id.hashCode() & 0xffff_ffffL;
        }
    }

    private void counter(ExportRow row) throws IOException {
        String name = row.text("name");
        String unit = row.text("unit");
        String key = row.pid() + " " + row.tid() + " " + name;
        long uuid = COUNTER_TRACK | key.hashCode() & 0xffff_ffffL;
        if (described.add(uuid)) {
            ProtoBuffer counter = new ProtoBuffer();
            if (!unit.isEmpty()) {
                counter.text(6, unit);
            }
            ProtoBuffer track = new ProtoBuffer().integer(1, uuid).text(2, name);
            if (row.pid() >= 0) {
                track.integer(5, process(row));
            }
            packet(packetAt(row.time(), EVENTS_SEQUENCE).message(60, track.message(8, counter)));
        }
        ProtoBuffer event = new ProtoBuffer().integer(9, 4).integer(11, uuid);
        event.real(44, row.real("value"));
        packet(packetAt(row.time(), EVENTS_SEQUENCE).message(11, event));
    }

    private Interning interning(String event) {
        Interning known = sequences.get(event);
        if (known == null) {
            int sequence = event.isEmpty() ? EVENTS_SEQUENCE : 100 + sequences.size();
            known = new Interning(sequence);
            sequences.put(event, known);
        }
        return known;
    }

    /** A sequence for each event: its name and period stand in the sequence's defaults. */
    private void sample(ExportRow row) throws IOException {
        Interning interning = interning(row.type.name());
        ProtoBuffer packet = packetAt(row.time(), interning.sequence);
        if (!interning.begun) {
            packet.integer(13, 1);
            interning.begun = true;
        }
        ProtoBuffer data = new ProtoBuffer();
        ProtoBuffer sample = new ProtoBuffer();
        if (row.cpu() >= 0) {
            sample.integer(1, row.cpu());
        }
        if (row.pid() >= 0) {
            sample.integer(2, row.pid());
        }
        if (row.tid() >= 0) {
            sample.integer(3, row.tid());
        }
        if (row.batch.stackDepth(row.row) > 0) {
            sample.integer(4, interning.chain(row.frames(), data));
        }
        if (data.size() > 0) {
            packet.message(12, data);
        }
        long weight = row.batch.weight(row.row);
        if (weight != interning.period) {
            interning.period = weight;
            ProtoBuffer base = new ProtoBuffer().integer(1, weight).text(10, row.type.name());
            ProtoBuffer defaults = new ProtoBuffer().message(1, base);
            packet.message(59, new ProtoBuffer().integer(58, clock).message(12, defaults));
        }
        packet(packet.message(66, sample));
    }

    /** A row of no CPU: a moment of its thread, its fields as arguments. */
    private void moment(ExportRow row) throws IOException {
        long track = track(row, "");
        ProtoBuffer event = new ProtoBuffer().integer(9, 3).integer(11, track);
        event.text(23, row.type.name()).text(22, row.type.system());
        for (Field field : row.fields()) {
            ProtoBuffer argument = new ProtoBuffer().text(10, field.name());
            if (ExportRow.isInteger(field)) {
                argument.integer(field.signed() ? 4 : 3, row.integer(field));
            } else if (ExportRow.isReal(field)) {
                argument.real(5, row.real(field));
            } else {
                argument.text(6, row.text(field));
            }
            event.message(4, argument);
        }
        Interning interning = interning("");
        ProtoBuffer data = new ProtoBuffer();
        if (row.batch.stackDepth(row.row) > 0) {
            event.integer(56, interning.chain(row.frames(), data));
        }
        ProtoBuffer packet = packetAt(row.time(), EVENTS_SEQUENCE);
        if (data.size() > 0) {
            packet.message(12, data);
        }
        packet(packet.message(11, event));
    }
}
