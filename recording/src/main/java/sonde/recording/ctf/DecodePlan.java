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
import sonde.recording.ctf.FieldNode.NodeBudget;
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.EventClass;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ctf.schema.RootScope;
import sonde.recording.ctf.schema.StreamClass;
import sonde.recording.ctf.schema.TraceClass;

/** How the packets and events of a trace are read, worked out once from its metadata. */
final class DecodePlan {
    private static final ReadOp[] NOTHING = {};

    final TraceClass trace;
    final ReadOp[] packetHeader;
    final Map<Long, StreamPlan> streams = new HashMap<>();
    final List<EventType> types = new ArrayList<>();

    /** By type; null for the notices. */
    final List<@Nullable EventPlan> events = new ArrayList<>();

    final int slots;
    final int lost;
    final int corrupt;

    /** A class of streams. */
    static final class StreamPlan {
        final StreamClass type;
        final @Nullable ClockClass clock;
        ReadOp[] packetContext = NOTHING;
        ReadOp[] eventHeader = NOTHING;

        /** What the packet context leaves in each event's payload. */
        ReadOp[] packetFields = NOTHING;

        ReadOp[] commonContext = NOTHING;

        /** Bytes at the start of each payload that a packet's events share; 0 when none may be. */
        int sharedBytes;

        @Nullable FieldNode packetNode;
        @Nullable FieldNode commonNode;
        int cpuSlot = -1;
        private EventPlan[] low = {};
        private final Map<Long, EventPlan> high = new HashMap<>();

        StreamPlan(StreamClass type) {
            this.type = type;
            this.clock = type.clock;
        }

        @Nullable EventPlan event(long id) {
            return id >= 0 && id < low.length ? low[(int) id] : high.get(id);
        }

        Iterable<EventPlan> events() {
            return high.values();
        }

        /** The class of events that say none. */
        @Nullable EventPlan only() {
            return high.size() == 1 ? high.values().iterator().next() : null;
        }

        void put(EventPlan event) {
            high.put(event.id, event);
        }

        /** Small numbers are found by index. */
        void pack() {
            int size = 0;
            while (high.containsKey((long) size)) {
                size++;
            }
            EventPlan[] packed =
                    LongStream.range(0, size).mapToObj(high::get).toArray(EventPlan[]::new);
            low = packed;
        }
    }

    /** A class of events. */
    static final class EventPlan {
        final long id;
        final int type;
        final String name;
        final ReadOp[] ops;
        final int fixedBytes;
        final boolean clears;
        final ThreadIdentity identity;
        final @Nullable FieldNode packet;
        final @Nullable FieldNode common;
        final @Nullable FieldNode specific;
        final @Nullable FieldNode payload;

        EventPlan(
                EventClass from,
                int type,
                ReadOp[] ops,
                PayloadLayout layout,
                StreamPlan stream,
                @Nullable FieldNode specific,
                @Nullable FieldNode payload) {
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
            this.identity = ThreadIdentity.of(this.name, common, payload);
            this.clears =
                    chooses(packet) || chooses(common) || chooses(specific) || chooses(payload);
        }

        private static boolean chooses(@Nullable FieldNode node) {
            return node != null
                    && (node.type instanceof VariantClass
                            || node.type instanceof FieldClass.Optional
                            || node.children.stream().anyMatch(EventPlan::chooses));
        }
    }

    private DecodePlan(TraceClass trace, String system) throws MalformedInputException {
        this.trace = trace;
        NodeBudget budget = new NodeBudget();
        FieldLinks links = new FieldLinks();
        FieldNode header = root(links, budget, RootScope.PACKET_HEADER, trace.packetHeader);
        for (StreamClass type : trace.streams.values()) {
            StreamPlan stream = new StreamPlan(type);
            streams.put(type.id, stream);
            stream(stream, links, budget, system);
            stream.pack();
        }
        // A stream's fields may depend on the packet header, so its steps come last.
        packetHeader = header == null ? NOTHING : DecodeSteps.telling(header);
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
    static DecodePlan of(TraceClass trace, String system) throws MalformedInputException {
        return new DecodePlan(trace, system);
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

    private static @Nullable FieldNode root(
            FieldLinks links,
            NodeBudget budget,
            RootScope scope,
            FieldClass.@Nullable StructureClass type)
            throws MalformedInputException {
        FieldNode node = type == null ? null : FieldNode.of(type, scope.label(), null, budget);
        links.root(scope, node);
        return node;
    }

    private void stream(StreamPlan stream, FieldLinks links, NodeBudget budget, String system)
            throws MalformedInputException {
        StreamClass type = stream.type;
        links.root(RootScope.EVENT_SPECIFIC_CONTEXT, null);
        links.root(RootScope.EVENT_PAYLOAD, null);
        FieldNode context = root(links, budget, RootScope.PACKET_CONTEXT, type.packetContext);
        FieldNode header = root(links, budget, RootScope.EVENT_HEADER, type.eventHeader);
        FieldNode common = root(links, budget, RootScope.EVENT_COMMON_CONTEXT, type.commonContext);
        List<EventParts> all = new ArrayList<>();
        for (EventClass event : type.events.values()) {
            FieldNode specific =
                    root(links, budget, RootScope.EVENT_SPECIFIC_CONTEXT, event.specificContext());
            FieldNode payload = root(links, budget, RootScope.EVENT_PAYLOAD, event.payload());
            all.add(new EventParts(event, specific, payload));
        }
        links.root(RootScope.EVENT_SPECIFIC_CONTEXT, null);
        links.root(RootScope.EVENT_PAYLOAD, null);
        cpu(stream, context, links);
        for (EventParts parts : all) {
            VisibleFields.mark(parts.payload, false);
            VisibleFields.mark(parts.specific, false);
        }
        VisibleFields.mark(common, false);
        VisibleFields.mark(context, true);
        PayloadLayout layout = new PayloadLayout();
        if (context != null && context.shown) {
            layout.place(context, "packet.");
            stream.packetNode = context;
            stream.packetFields = DecodeSteps.keeping(context);
            stream.sharedBytes = isShared(context) ? layout.fixedBytes() : 0;
        }
        if (common != null) {
            layout.place(common, "context.");
            stream.commonNode = common;
            stream.commonContext = DecodeSteps.keeping(common);
        }
        stream.packetContext = context == null ? NOTHING : DecodeSteps.telling(context);
        stream.eventHeader = header == null ? NOTHING : DecodeSteps.telling(header);
        for (EventParts parts : all) {
            stream.put(event(stream, parts, new PayloadLayout(layout), system));
        }
    }

    /** Whether a structure has neither spans nor choices. */
    private static boolean isShared(FieldNode node) {
        return switch (node.type) {
            case BitField bits -> bits.clock() == null;
            case FieldClass.VariableInteger variable -> true;
            case FieldClass.Real real -> true;
            case TextClass text -> PayloadLayout.inPlace(text) > 0;
            case StructureClass structure ->
                    node.children.stream().allMatch(child -> !child.shown || isShared(child));
            default -> !node.shown;
        };
    }

    /** An event's own structures. */
    private record EventParts(
            EventClass event, @Nullable FieldNode specific, @Nullable FieldNode payload) {}

    private static void cpu(StreamPlan stream, @Nullable FieldNode context, FieldLinks links) {
        if (context == null) {
            return;
        }
        for (FieldNode child : context.children) {
            if (child.name.equals("cpu_id") && child.type instanceof BitField) {
                child.slot = child.slot < 0 ? links.newSlot() : child.slot;
                stream.cpuSlot = child.slot;
            }
        }
    }

    private EventPlan event(
            StreamPlan stream, EventParts parts, PayloadLayout layout, String system) {
        List<ReadOp> ops = new ArrayList<>();
        if (parts.payload != null) {
            layout.place(parts.payload, "");
        }
        if (parts.specific != null) {
            layout.place(parts.specific, "event_context.");
            ops.addAll(List.of(DecodeSteps.keeping(parts.specific)));
        }
        if (parts.payload != null) {
            ops.addAll(List.of(DecodeSteps.keeping(parts.payload)));
        }
        int type = types.size();
        ReadOp[] all = ops.toArray(ReadOp[]::new);
        EventPlan event =
                new EventPlan(
                        parts.event, type, all, layout, stream, parts.specific, parts.payload);
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
