package sonde.exchange.perfetto;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.exchange.ProtoReader;
import sonde.exchange.perfetto.FtraceEvents.Kind;
import sonde.exchange.perfetto.FtraceEvents.ProtoEvent;
import sonde.exchange.perfetto.FtraceEvents.ProtoField;
import sonde.recording.LongList;
import sonde.recording.RowStore;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;
import sonde.recording.TypeBuilder;

/** Rows of FtraceEventBundle (ftrace_event_bundle.proto): the kernel's events, by CPU. */
final class FtraceBundles {
    private static final int GENERIC = 327;
    private static final int MOST_CPUS = 1 << 15;

    private final TraceRows rows;
    private final TraceClocks clocks;
    private final Map<Integer, BundleShape> shapes = new HashMap<>();
    private final Map<String, BundleShape> generic = new HashMap<>();
    private final Map<Integer, BundleShape> described = new HashMap<>();
    private final Map<Integer, RunningThread> running = new HashMap<>();
    private final Map<Integer, Long> unknown = new HashMap<>();

    FtraceBundles(TraceRows rows, TraceClocks clocks) {
        this.rows = rows;
        this.clocks = clocks;
    }

    /** A type whose fields are found by number. */
    private record BundleShape(EventType type, Map<Integer, BundleSlot> slots) {}

    private record BundleSlot(Kind kind, Field field) {}

    /** The thread on a CPU, by the last switch seen there. */
    private record RunningThread(int tid, int prio, String comm) {}

    /** Numbers of events that this reader does not know, with counts. */
    Map<Integer, Long> unknown() {
        return unknown;
    }

    /** Takes a bundle; when its packet has no time, losses stand where its first event does. */
    void take(ProtoReader bundle, ProtoReader again) throws MalformedInputException {
        int cpu = -1;
        boolean lost = false;
        long clock = TraceClocks.BOOTTIME;
        long ftrace = 0;
        long boot = 0;
        while (bundle.next()) {
            switch (bundle.field()) {
                case 1 -> cpu = (int) Math.min(bundle.value() & 0xffff_ffffL, MOST_CPUS);
                case 3 -> lost = bundle.value() != 0;
                case 5 -> clock = bundle.value() == 4 ? TraceClocks.MONOTONIC_RAW : 0;
                case 6 -> ftrace = bundle.value();
                case 7 -> boot = bundle.value();
                case 11 -> describe(bundle.message());
                default -> {}
            }
        }
        if (cpu == MOST_CPUS) {
            cpu = -1;
        }
        // Clocks without a number are told by the two times of the bundle (ftrace_clock).
        long offset = clock == TraceClocks.BOOTTIME || boot == 0 ? 0 : boot - ftrace;
        BundleTimes times = new BundleTimes(offset != 0 ? TraceClocks.BOOTTIME : clock, offset);
        while (again.next()) {
            switch (again.field()) {
                case 2 -> lost = event(again, cpu, times, lost);
                case 4 -> lost = compact(again.message(), cpu, times, lost);
                default -> {}
            }
        }
    }

    /** How the times of a bundle are to be taken. */
    private record BundleTimes(long clock, long offset) {}

    private long time(BundleTimes times, long time) {
        return times.clock == 0 ? time : clocks.convert(times.clock, time + times.offset);
    }

    private boolean event(ProtoReader field, int cpu, BundleTimes times, boolean lost)
            throws MalformedInputException {
        long time = 0;
        int tid = -1;
        int number = 0;
        ProtoReader head = field.message();
        ProtoReader body = null;
        while (head.next()) {
            if (head.field() == 1) {
                time = time(times, head.value());
            } else if (head.field() == 2) {
                tid = (int) head.value();
            } else if (head.wire() == ProtoReader.LENGTH) {
                number = head.field();
                body = head.message();
            }
        }
        if (lost) {
            rows.lost(new RowOrigin(time, cpu, -1, -1), 0);
        }
        if (body == null) {
            return false;
        }
        RowOrigin place = new RowOrigin(time, cpu, -1, tid);
        if (number == GENERIC) {
            generic(place, body, field);
            return false;
        }
        BundleShape shape = shape(number);
        if (shape == null) {
            unknown.merge(number, 1L, Long::sum);
            return false;
        }
        RowStore store = rows.begin(place, shape.type);
        if (number == 4) {
            running.remove(cpu);
        }
        fill(store, shape, body);
        store.end();
        return false;
    }

    private static void fill(RowStore store, BundleShape shape, ProtoReader body)
            throws MalformedInputException {
        Map<Integer, LongList> lists = null;
        while (body.next()) {
            BundleSlot slot = shape.slots.get(body.field());
            if (slot == null) {
                continue;
            }
            boolean text = slot.kind == Kind.TEXT || slot.kind == Kind.BYTES;
            if (text) {
                if (body.wire() == ProtoReader.LENGTH) {
                    store.text(slot.field, body.text());
                }
            } else if (slot.kind == Kind.REPEATED) {
                lists = lists == null ? new HashMap<>() : lists;
                LongList list = lists.computeIfAbsent(body.field(), ignored -> new LongList());
                body.integers(list);
            } else if (slot.kind == Kind.REAL) {
                store.real(slot.field, body.real());
            } else {
                boolean zigzag = slot.kind == Kind.ZIGZAG;
                store.integer(slot.field, zigzag ? body.zigzag() : body.value());
            }
        }
        if (lists != null) {
            for (Map.Entry<Integer, LongList> one : lists.entrySet()) {
                BundleSlot slot = shape.slots.get(one.getKey());
                if (slot != null) {
                    store.array(slot.field, one.getValue());
                }
            }
        }
    }

    private @Nullable BundleShape shape(int number) {
        BundleShape known = shapes.get(number);
        if (known == null) {
            known = described.get(number);
        }
        if (known == null) {
            ProtoEvent event = FtraceEvents.numbered(number).orElse(null);
            if (event == null) {
                return null;
            }
            known = shape(event.type(), event.members());
            shapes.put(number, known);
        }
        return known;
    }

    private BundleShape shape(TypeBuilder builder, List<ProtoField> members) {
        EventType type = rows.store().type(builder);
        Map<Integer, BundleSlot> slots = new HashMap<>();
        for (int i = 0; i < members.size(); i++) {
            slots.put(
                    members.get(i).number(), new BundleSlot(members.get(i).kind(), field(type, i)));
        }
        return new BundleShape(type, slots);
    }

    private static Field field(EventType type, int position) {
        return type.fields().get(position);
    }

    /** GenericFtraceEvent (generic.proto): each event says the names of its fields. */
    private void generic(RowOrigin place, ProtoReader body, ProtoReader field)
            throws MalformedInputException {
        String name = "";
        StringBuilder key = new StringBuilder();
        List<ProtoField> members = new ArrayList<>();
        while (body.next()) {
            if (body.field() == 1) {
                name = body.text();
            } else if (body.field() == 2) {
                ProtoField member = member(body.message(), members.size());
                members.add(member);
                key.append(' ').append(member.name()).append(member.kind());
            }
        }
        String system = "ftrace";
        int colon = name.indexOf(':');
        if (colon > 0) {
            system = name.substring(0, colon);
            name = name.substring(colon + 1);
        }
        String group = system;
        String event = name;
        BundleShape shape =
                generic.computeIfAbsent(
                        system + ':' + name + key,
                        ignored -> {
                            TypeBuilder type = new TypeBuilder(group, event);
                            members.forEach(member -> member.addTo(type));
                            return shape(type, members);
                        });
        RowStore store = rows.begin(place, shape.type);
        ProtoReader again = field.message();
        while (again.next()) {
            if (again.field() == GENERIC) {
                values(store, shape, again.message());
            }
        }
        store.end();
    }

    private static ProtoField member(ProtoReader field, int position)
            throws MalformedInputException {
        String name = "";
        Kind kind = Kind.UNSIGNED;
        while (field.next()) {
            switch (field.field()) {
                case 1 -> name = field.text();
                case 3 -> kind = Kind.TEXT;
                case 4 -> kind = Kind.SIGNED;
                default -> {}
            }
        }
        return new ProtoField(name, position, kind, 8);
    }

    private static void values(RowStore store, BundleShape shape, ProtoReader body)
            throws MalformedInputException {
        int position = 0;
        while (body.next()) {
            if (body.field() != 2) {
                continue;
            }
            BundleSlot slot = shape.slots.get(position++);
            ProtoReader value = body.message();
            while (slot != null && value.next()) {
                if (value.field() == 3 && slot.kind == Kind.TEXT) {
                    store.text(slot.field, value.text());
                } else if (value.field() > 3 && slot.kind != Kind.TEXT) {
                    store.integer(slot.field, value.value());
                }
            }
        }
    }

    /** GenericEventDescriptor: a DescriptorProto of an event the recorder did not know. */
    private void describe(ProtoReader message) throws MalformedInputException {
        int number = 0;
        String group = "ftrace";
        ProtoReader descriptor = null;
        while (message.next()) {
            switch (message.field()) {
                case 1 -> number = (int) message.value();
                case 2 -> descriptor = message.message();
                case 3 -> group = message.text();
                default -> {}
            }
        }
        if (descriptor == null || described.containsKey(number)) {
            return;
        }
        String name = "event" + number;
        List<ProtoField> members = new ArrayList<>();
        while (descriptor.next()) {
            if (descriptor.field() == 1) {
                name = descriptor.text();
            } else if (descriptor.field() == 2) {
                members.add(describedMember(descriptor.message()));
            }
        }
        TypeBuilder type = new TypeBuilder(group, name);
        members.forEach(member -> member.addTo(type));
        described.put(number, shape(type, members));
    }

    /** FieldDescriptorProto (descriptor.proto): 1 name, 3 number, 5 type. */
    private static ProtoField describedMember(ProtoReader field) throws MalformedInputException {
        String name = "";
        int number = 0;
        long type = 4;
        while (field.next()) {
            switch (field.field()) {
                case 1 -> name = field.text();
                case 3 -> number = (int) field.value();
                case 5 -> type = field.value();
                default -> {}
            }
        }
        Kind kind =
                switch ((int) type) {
                    case 1, 2 -> Kind.REAL;
                    case 9 -> Kind.TEXT;
                    case 12 -> Kind.BYTES;
                    case 3, 5, 15, 16 -> Kind.SIGNED;
                    case 17, 18 -> Kind.ZIGZAG;
                    default -> Kind.UNSIGNED;
                };
        int size = type == 5 || type == 13 || type == 7 || type == 15 ? 4 : 8;
        return new ProtoField(name, number, kind, size);
    }

    /** Columns of CompactSched, by field number; times are told as differences. */
    private boolean compact(ProtoReader message, int cpu, BundleTimes times, boolean lost)
            throws MalformedInputException {
        List<String> table = new ArrayList<>();
        LongList[] columns = new LongList[13];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = new LongList();
        }
        while (message.next()) {
            if (message.field() == 5) {
                table.add(message.text());
            } else if (message.field() < columns.length) {
                message.integers(columns[message.field()]);
            }
        }
        int switches = columns[1].size();
        int wakings = columns[7].size();
        long switchTime = columns[1].at(0, 0);
        long wakingTime = columns[7].at(0, 0);
        if (lost && switches + wakings > 0) {
            boolean switchFirst = wakings == 0 || switches > 0 && switchTime <= wakingTime;
            long first = switchFirst ? switchTime : wakingTime;
            rows.lost(new RowOrigin(time(times, first), cpu, -1, -1), 0);
            running.remove(cpu);
        }
        int waking = 0;
        for (int i = 0; i < switches; i++) {
            while (waking < wakings && wakingTime <= switchTime) {
                waking(
                        new CompactSwitches(table, columns),
                        waking++,
                        place(times, wakingTime, cpu));
                wakingTime += columns[7].at(waking, 0);
            }
            switched(new CompactSwitches(table, columns), i, place(times, switchTime, cpu));
            switchTime += columns[1].at(i + 1, 0);
        }
        while (waking < wakings) {
            waking(new CompactSwitches(table, columns), waking++, place(times, wakingTime, cpu));
            wakingTime += columns[7].at(waking, 0);
        }
        return false;
    }

    private record CompactSwitches(List<String> table, LongList[] columns) {
        String comm(int column, int row) {
            long index = columns[column].at(row, -1);
            return index >= 0 && index < table.size() ? table.get((int) index) : "";
        }

        long at(int column, int row) {
            return columns[column].at(row, 0);
        }
    }

    private RowOrigin place(BundleTimes times, long time, int cpu) {
        RunningThread now = running.get(cpu);
        return new RowOrigin(time(times, time), cpu, -1, now == null ? -1 : now.tid);
    }

    private void switched(CompactSwitches compact, int row, RowOrigin place) {
        BundleShape shape = shape(4);
        if (shape == null) {
            return;
        }
        RunningThread from = running.get(place.cpu());
        RunningThread to =
                new RunningThread(
                        (int) compact.at(3, row), (int) compact.at(4, row), compact.comm(6, row));
        RowStore store = rows.begin(place, shape.type);
        put(store, shape, 1, from == null ? "" : from.comm);
        put(store, shape, 2, from == null ? -1 : from.tid);
        put(store, shape, 3, from == null ? 0 : from.prio);
        put(store, shape, 4, compact.at(2, row));
        put(store, shape, 5, to.comm);
        put(store, shape, 6, to.tid);
        put(store, shape, 7, to.prio);
        store.end();
        running.put(place.cpu(), to);
    }

    private void waking(CompactSwitches compact, int row, RowOrigin place) {
        BundleShape shape = shape(20);
        if (shape == null) {
            return;
        }
        RowStore store = rows.begin(place, shape.type);
        put(store, shape, 1, compact.comm(11, row));
        put(store, shape, 2, compact.at(8, row));
        put(store, shape, 3, compact.at(10, row));
        put(store, shape, 4, 1);
        put(store, shape, 5, compact.at(9, row));
        store.end();
    }

    private static void put(RowStore store, BundleShape shape, int number, long value) {
        BundleSlot slot = shape.slots.get(number);
        if (slot != null) {
            store.integer(slot.field, value);
        }
    }

    private static void put(RowStore store, BundleShape shape, int number, String value) {
        BundleSlot slot = shape.slots.get(number);
        if (slot != null) {
            store.text(slot.field, value);
        }
    }
}
