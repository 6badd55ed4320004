package sonde.recording.ctf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.EventClass;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.Bits;
import sonde.recording.ctf.schema.Scope;
import sonde.recording.ctf.schema.StreamClass;
import sonde.recording.ctf.schema.TraceClass;

/** How the packets and events of a trace are read, worked out once from its metadata. */
final class Plan {
    private static final Op[] NOTHING = {};

    final TraceClass trace;
    final Op[] packetHeader;
    final Map<Long, Stream> streams = new HashMap<>();
    final List<EventType> types = new ArrayList<>();

    /** By type; null for the notices. */
    final List<@Nullable Event> events = new ArrayList<>();

    final int slots;
    final int lost;
    final int corrupt;

    /** A class of streams. */
    static final class Stream {
        final StreamClass type;
        final @Nullable ClockClass clock;
        Op[] packetContext = NOTHING;
        Op[] eventHeader = NOTHING;

        /** What the packet context leaves in each event's payload. */
        Op[] packetFields = NOTHING;

        Op[] commonContext = NOTHING;

        /** Bytes at the start of each payload that a packet's events share; 0 when none may be. */
        int sharedBytes;

        @Nullable Node packetNode;
        @Nullable Node commonNode;
        int cpuSlot = -1;
        private Event[] low = {};
        private final Map<Long, Event> high = new HashMap<>();

        Stream(StreamClass type) {
            this.type = type;
            this.clock = type.clock;
        }

        @Nullable Event event(long id) {
            return id >= 0 && id < low.length ? low[(int) id] : high.get(id);
        }

        Iterable<Event> events() {
            return high.values();
        }

        /** The class of events that say none. */
        @Nullable Event only() {
            return high.size() == 1 ? high.values().iterator().next() : null;
        }

        void put(Event event) {
            high.put(event.id, event);
        }

        /** Small numbers are found by index. */
        void pack() {
            int size = 0;
            while (high.containsKey((long) size)) {
                size++;
            }
            Event[] packed = LongStream.range(0, size).mapToObj(high::get).toArray(Event[]::new);
            low = packed;
        }
    }

    /** A class of events. */
    static final class Event {
        final long id;
        final int type;
        final String name;
        final Op[] ops;
        final int fixedBytes;
        final boolean clears;
        final Identity identity;
        final @Nullable Node packet;
        final @Nullable Node common;
        final @Nullable Node specific;
        final @Nullable Node payload;

        Event(
                EventClass from,
                int type,
                Op[] ops,
                Layout layout,
                Stream stream,
                @Nullable Node specific,
                @Nullable Node payload) {
            this.id = from.id();
            this.type = type;
            String known = from.name();
            this.name = known == null ? "<unknown>" : known;
            this.ops = ops;
            this.fixedBytes = layout.fixedBytes();
            this.packet = stream.packetNode;
            this.common = stream.commonNode;
            this.specific = specific;
            this.payload = payload;
            this.identity = Identity.of(this.name, common, payload);
            this.clears =
                    chooses(packet) || chooses(common) || chooses(specific) || chooses(payload);
        }

        private static boolean chooses(@Nullable Node node) {
            return node != null
                    && (node.type instanceof FieldClass.Variant
                            || node.type instanceof FieldClass.Optional
                            || node.children.stream().anyMatch(Event::chooses));
        }
    }

    private Plan(TraceClass trace, String system) throws MalformedInputException {
        this.trace = trace;
        Node.Budget budget = new Node.Budget();
        Links links = new Links();
        Node header = root(links, budget, Scope.PACKET_HEADER, trace.packetHeader);
        for (StreamClass type : trace.streams.values()) {
            Stream stream = new Stream(type);
            streams.put(type.id, stream);
            stream(stream, links, budget, system);
            stream.pack();
        }
        // A stream's fields may depend on the packet header, so its steps come last.
        packetHeader = header == null ? NOTHING : Steps.telling(header);
        slots = links.slots();
        lost = notice("lost", "events", "packets");
        corrupt = notice("corrupt");
    }

    /**
     * Plans the reading of a trace.
     *
     * @param system of events whose names have none
     * @throws MalformedInputException when a field depends on one that is not there
     */
    static Plan of(TraceClass trace, String system) throws MalformedInputException {
        return new Plan(trace, system);
    }

    private int notice(String name, String... counts) {
        List<Field> fields = new ArrayList<>();
        for (String count : counts) {
            fields.add(Field.integer(count, 8 * fields.size(), 8, false));
        }
        types.add(new EventType(types.size(), EventType.NOTICE, name, fields, ""));
        events.add(null);
        return types.size() - 1;
    }

    private static @Nullable Node root(
            Links links, Node.Budget budget, Scope scope, FieldClass.@Nullable Structure type)
            throws MalformedInputException {
        Node node = type == null ? null : Node.of(type, scope.label(), null, budget);
        links.root(scope, node);
        return node;
    }

    private void stream(Stream stream, Links links, Node.Budget budget, String system)
            throws MalformedInputException {
        StreamClass type = stream.type;
        links.root(Scope.EVENT_SPECIFIC_CONTEXT, null);
        links.root(Scope.EVENT_PAYLOAD, null);
        Node context = root(links, budget, Scope.PACKET_CONTEXT, type.packetContext);
        Node header = root(links, budget, Scope.EVENT_HEADER, type.eventHeader);
        Node common = root(links, budget, Scope.EVENT_COMMON_CONTEXT, type.commonContext);
        List<Parts> all = new ArrayList<>();
        for (EventClass event : type.events.values()) {
            Node specific =
                    root(links, budget, Scope.EVENT_SPECIFIC_CONTEXT, event.specificContext());
            Node payload = root(links, budget, Scope.EVENT_PAYLOAD, event.payload());
            all.add(new Parts(event, specific, payload));
        }
        links.root(Scope.EVENT_SPECIFIC_CONTEXT, null);
        links.root(Scope.EVENT_PAYLOAD, null);
        cpu(stream, context, links);
        for (Parts parts : all) {
            Shown.mark(parts.payload, false);
            Shown.mark(parts.specific, false);
        }
        Shown.mark(common, false);
        Shown.mark(context, true);
        Layout layout = new Layout();
        if (context != null && context.shown) {
            layout.place(context, "packet.");
            stream.packetNode = context;
            stream.packetFields = Steps.keeping(context);
            stream.sharedBytes = isShared(context) ? layout.fixedBytes() : 0;
        }
        if (common != null) {
            layout.place(common, "context.");
            stream.commonNode = common;
            stream.commonContext = Steps.keeping(common);
        }
        stream.packetContext = context == null ? NOTHING : Steps.telling(context);
        stream.eventHeader = header == null ? NOTHING : Steps.telling(header);
        for (Parts parts : all) {
            stream.put(event(stream, parts, new Layout(layout), system));
        }
    }

    /** Whether a structure has neither spans nor choices. */
    private static boolean isShared(Node node) {
        return switch (node.type) {
            case Bits bits -> bits.clock() == null;
            case FieldClass.VariableInteger variable -> true;
            case FieldClass.Real real -> true;
            case FieldClass.Text text -> Layout.inPlace(text) > 0;
            case FieldClass.Structure structure ->
                    node.children.stream().allMatch(child -> !child.shown || isShared(child));
            default -> !node.shown;
        };
    }

    /** An event's own structures. */
    private record Parts(EventClass event, @Nullable Node specific, @Nullable Node payload) {}

    private static void cpu(Stream stream, @Nullable Node context, Links links) {
        if (context == null) {
            return;
        }
        for (Node child : context.children) {
            if (child.name.equals("cpu_id") && child.type instanceof Bits) {
                child.slot = child.slot < 0 ? links.newSlot() : child.slot;
                stream.cpuSlot = child.slot;
            }
        }
    }

    private Event event(Stream stream, Parts parts, Layout layout, String system) {
        List<Op> ops = new ArrayList<>();
        if (parts.payload != null) {
            layout.place(parts.payload, "");
        }
        if (parts.specific != null) {
            layout.place(parts.specific, "event_context.");
            ops.addAll(List.of(Steps.keeping(parts.specific)));
        }
        if (parts.payload != null) {
            ops.addAll(List.of(Steps.keeping(parts.payload)));
        }
        int type = types.size();
        Op[] all = ops.toArray(Op[]::new);
        Event event =
                new Event(parts.event, type, all, layout, stream, parts.specific, parts.payload);
        int colon = event.name.indexOf(':');
        boolean split = colon > 0 && colon < event.name.length() - 1;
        types.add(
                new EventType(
                        type,
                        split ? event.name.substring(0, colon) : system,
                        split ? event.name.substring(colon + 1) : event.name,
                        layout.fields(),
                        ""));
        events.add(event);
        return event;
    }
}
