package sonde.exchange.jfr;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.exchange.jfr.JfrChunk.ChunkHeader;
import sonde.exchange.jfr.JfrMetadata.JfrClass;
import sonde.exchange.jfr.JfrMetadata.JfrField;
import sonde.recording.LongList;
import sonde.recording.RowStore;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;
import sonde.recording.TypeBuilder;

/**
 * Reads a flight recording: each event with the fields that its metadata names ({@code
 * jdk:ExecutionSample}), times in nanoseconds, references as text, its stack as a call chain. A
 * chunk that is damaged or was not finished costs that chunk.
 */
public final class JfrReader {
    private static final int MAGIC = 0x464c5200; // "FLR\0"
    private static final ValueLayout.OfInt MAGIC_LAYOUT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Version 1 came with Java 9; 0.9 has other events and metadata. */
    private static final int OLDEST = 1;

    private static final int MOST_FRAMES = 4096;
    private static final int MOST_THREADS = 1 << 20;

    private final RowStore store = new RowStore();
    private final List<String> notes = new ArrayList<>();
    private final Map<String, JfrShape> shapes = new HashMap<>();
    private final Map<Long, JfrShape> ofClass = new HashMap<>();
    private final Map<Object, Integer> chains = new HashMap<>();
    private final Map<Integer, String> names = new TreeMap<>();
    private @Nullable EventType corrupt;
    private long firstNanos = Long.MAX_VALUE;
    private int pid = -1;

    private enum Kind {
        TIME,
        THREAD,
        STACK,
        INTEGER,
        SPAN,
        STAMP,
        REAL,
        TEXT,
    }

    private static final Pattern PERIOD = Pattern.compile("([0-9]{1,8}) *(ns|us|ms|s|m)");

    /** The fields that say how many bytes an event of an allocation stands for. */
    private static final Map<String, String> WEIGHTS =
            Map.of(
                    "jdk.ObjectAllocationSample", "weight",
                    "jdk.ObjectAllocationInNewTLAB", "tlabSize",
                    "jdk.ObjectAllocationOutsideTLAB", "allocationSize");

    private record JfrSlot(JfrField from, Kind kind, @Nullable Field to) {}

    private record JfrShape(EventType type, List<JfrSlot> slots) {}

    private JfrReader() {}

    /** Whether it begins with a chunk. */
    public static boolean isJfr(Input input) {
        MemorySegment file = input.segment();
        if (file.byteSize() < JfrChunk.HEADER_BYTES) {
            return false;
        }
        FieldCursor cursor = new FieldCursor(JfrCursor.FORMAT, file, ByteOrder.BIG_ENDIAN);
        try {
            return cursor.s32("magic") == MAGIC;
        } catch (MalformedInputException e) {
            return false;
        }
    }

    /**
     * Reads a recording; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is none
     */
    public static Recording open(Input input) throws MalformedInputException {
        if (!isJfr(input)) {
            throw new MalformedInputException(JfrCursor.FORMAT, "magic", 0, "no chunk");
        }
        FieldCursor cursor =
                new FieldCursor(JfrCursor.FORMAT, input.segment(), ByteOrder.BIG_ENDIAN);
        cursor.s32("magic");
        int major = cursor.u16("major");
        if (major < OLDEST) {
            throw MalformedInputException.refusal(
                    "is a flight recording of version "
                            + major
                            + "."
                            + cursor.u16("minor")
                            + ", of Oracle's Java 8 or 7: JDK Mission Control opens it; recordings"
                            + " of OpenJDK 8u262 and of Java 9 and later are read");
        }
        JfrReader reader = new JfrReader();
        return reader.store.filled(() -> {
            reader.read(input.segment());
            reader.nameThreads();
            return reader.store.recording(JfrCursor.FORMAT, Clock.REALTIME, reader.notes);
        });
    }

    private void read(MemorySegment file) {
        long at = 0;
        while (file.byteSize() - at >= JfrChunk.HEADER_BYTES) {
            MemorySegment rest = file.asSlice(at);
            FieldCursor cursor = new FieldCursor(JfrCursor.FORMAT, rest, ByteOrder.BIG_ENDIAN);
            long size = rest.byteSize();
            long start = 0;
            try {
                if (rest.get(MAGIC_LAYOUT, 0) != MAGIC) {
                    throw cursor.malformed("magic", "no chunk where one should begin");
                }
                ChunkHeader header = ChunkHeader.read(cursor);
                start = header.startNanos();
                firstNanos = Math.min(firstNanos, start);
                boolean whole = header.size() >= JfrChunk.HEADER_BYTES && header.size() <= size;
                size = whole ? header.size() : size;
                chunk(header, rest.asSlice(0, size));
                if (!whole) {
                    bad(start, at, "the chunk is not whole");
                }
            } catch (MalformedInputException e) {
                bad(start, at, String.valueOf(e.getMessage()));
            }
            at += size;
        }
    }

    /** Names stand with the threads of events, the process in one of the JVM's own. */
    private void nameThreads() {
        TraceRows rows = new TraceRows(store);
        names.forEach((tid, name) -> rows.thread(new RowOrigin(firstNanos, -1, pid, tid), name));
    }

    private void bad(long time, long offset, String why) {
        EventType type = corrupt;
        if (type == null) {
            type = store.type(new TypeBuilder(EventType.NOTICE, "corrupt"));
            corrupt = type;
        }
        store.begin(time, -1, -1, type).end();
        notes.add("The chunk at byte " + offset + " is not read whole: " + why + ".");
    }

    private void chunk(ChunkHeader header, MemorySegment bytes) throws MalformedInputException {
        JfrChunk chunk = new JfrChunk(header, bytes);
        ofClass.clear();
        chains.clear();
        MalformedInputException failure = null;
        try {
            chunk.readConstants();
        } catch (MalformedInputException e) {
            failure = e;
        }
        long left = chunk.forEach(type -> event(chunk, type));
        if (failure != null) {
            throw failure;
        }
        if (left > 0) {
            throw new MalformedInputException(
                    JfrCursor.FORMAT, "event size", bytes.byteSize() - left, left + " bytes left");
        }
    }

    private JfrShape shape(JfrChunk chunk, JfrClass type) {
        JfrShape known = ofClass.get(type.id());
        if (known != null) {
            return known;
        }
        StringBuilder key = new StringBuilder(type.name());
        int dot = type.name().lastIndexOf('.');
        String system = dot < 0 ? "jfr" : type.name().substring(0, dot);
        TypeBuilder builder = new TypeBuilder(system, type.name().substring(dot + 1));
        List<Kind> kinds = new ArrayList<>();
        for (JfrField field : type.fields()) {
            JfrClass of = chunk.metadata.type(field.type());
            Kind kind = kind(field, of == null ? "" : of.name());
            kinds.add(kind);
            key.append(' ').append(field.name()).append(kind);
            switch (kind) {
                case INTEGER, SPAN, STAMP -> builder.integer(field.name(), 8, true);
                case REAL -> builder.real(field.name());
                case TEXT -> builder.text(field.name());
                case TIME, THREAD, STACK -> {}
            }
        }
        JfrShape made =
                shapes.computeIfAbsent(key.toString(), ignored -> make(type, builder, kinds));
        ofClass.put(type.id(), made);
        return made;
    }

    private JfrShape make(JfrClass type, TypeBuilder builder, List<Kind> kinds) {
        EventType event = store.type(builder);
        List<JfrSlot> slots = new ArrayList<>();
        int next = 0;
        for (int i = 0; i < kinds.size(); i++) {
            Kind kind = kinds.get(i);
            boolean kept = kind != Kind.TIME && kind != Kind.THREAD && kind != Kind.STACK;
            Field to = kept ? event.fields().get(next++) : null;
            slots.add(new JfrSlot(type.fields().get(i), kind, to));
        }
        return new JfrShape(event, slots);
    }

    private static Kind kind(JfrField field, String type) {
        if (field.array()) {
            return Kind.TEXT;
        }
        if (field.name().equals("startTime") && field.timestamp()) {
            return Kind.TIME;
        }
        return switch (type) {
            case "jdk.types.StackTrace" ->
                    field.name().equals("stackTrace") ? Kind.STACK : Kind.TEXT;
            case "java.lang.Thread" -> {
                boolean own =
                        field.name().equals("eventThread") || field.name().equals("sampledThread");
                yield own ? Kind.THREAD : Kind.TEXT;
            }
            case "long", "int", "short", "byte", "boolean", "char" ->
                    !field.unit().equals("TICKS") && !field.unit().equals("NANOSECONDS")
                            ? Kind.INTEGER
                            : field.timestamp() ? Kind.STAMP : Kind.SPAN;
            case "float", "double" -> Kind.REAL;
            default -> Kind.TEXT;
        };
    }

    private void event(JfrChunk chunk, JfrClass type) throws MalformedInputException {
        JfrShape shape = shape(chunk, type);
        int count = shape.slots.size();
        @Nullable Object[] values = new @Nullable Object[count];
        long time = chunk.header.startNanos();
        int tid = -1;
        int chain = 0;
        for (int i = 0; i < count; i++) {
            JfrSlot slot = shape.slots.get(i);
            Object value = chunk.field(type.fields().get(i));
            values[i] = value;
            switch (slot.kind) {
                case TIME -> time = value instanceof Long ticks ? chunk.header.time(ticks) : time;
                case THREAD -> tid = thread(chunk, type.fields().get(i), value);
                case STACK -> chain = chain(chunk, type.fields().get(i), value);
                case INTEGER, SPAN, STAMP, REAL, TEXT -> {}
            }
        }
        if (type.name().equals("jdk.ActiveSetting")) {
            setting(chunk, type, values);
        }
        RowStore row = store.begin(time, -1, tid, shape.type).stack(chain);
        String weight = WEIGHTS.get(type.name());
        boolean machine = type.name().equals("jdk.JVMInformation");
        for (int i = 0; i < count; i++) {
            String field = type.fields().get(i).name();
            if (weight != null && field.equals(weight) && values[i] instanceof Long bytes) {
                row.sample(-1, bytes);
            } else if (machine && field.equals("pid") && values[i] instanceof Long number) {
                pid = number > 0 && number <= Integer.MAX_VALUE ? number.intValue() : -1;
            }
            Field to = shape.slots.get(i).to;
            if (to != null) {
                put(row, chunk, shape.slots.get(i), to, values[i]);
            }
        }
        row.end();
    }

    /** The setting {@code period} of jdk.ExecutionSample says how often threads were sampled. */
    private void setting(JfrChunk chunk, JfrClass type, @Nullable Object[] values)
            throws MalformedInputException {
        Map<String, String> texts = new HashMap<>();
        boolean ofSamples = false;
        for (int i = 0; i < values.length; i++) {
            JfrField field = type.fields().get(i);
            JfrClass of = chunk.metadata.type(field.type());
            if (field.name().equals("id") && values[i] instanceof Long id) {
                JfrClass event = chunk.metadata.type(id);
                ofSamples = event != null && event.name().equals("jdk.ExecutionSample");
            } else if (of != null && !field.array() && !(values[i] instanceof Long)) {
                texts.put(field.name(), new JfrText(chunk).of(of, values[i]));
            }
        }
        if (ofSamples && "period".equals(texts.get("name"))) {
            store.sampleNanos(nanos(texts.getOrDefault("value", "")));
        }
    }

    /** A period as jdk.jfr.Period writes it, {@code "20 ms"}; 0 for what is none. */
    static long nanos(String period) {
        Matcher matcher = PERIOD.matcher(period);
        if (!matcher.matches()) {
            return 0;
        }
        long each =
                switch (matcher.group(2)) {
                    case "ns" -> 1L;
                    case "us" -> 1_000L;
                    case "ms" -> 1_000_000L;
                    case "s" -> 1_000_000_000L;
                    default -> 60_000_000_000L;
                };
        return Long.parseLong(matcher.group(1)) * each;
    }

    private static void put(
            RowStore row, JfrChunk chunk, JfrSlot slot, Field to, @Nullable Object value) {
        JfrText text = new JfrText(chunk);
        switch (slot.kind) {
            case REAL -> row.real(to, value instanceof Double real ? real : 0);
            case TEXT -> {
                JfrClass type = chunk.metadata.type(slot.from.type());
                boolean array = slot.from.array();
                if (type != null) {
                    row.text(to, array ? list(text, type, value) : text.of(type, value));
                }
            }
            case INTEGER, SPAN, STAMP -> {
                long number = value instanceof Long given ? given : 0;
                boolean ticks = slot.from.unit().equals("TICKS") && number != Long.MIN_VALUE;
                if (ticks && number != Long.MAX_VALUE) {
                    boolean stamp = slot.kind == Kind.STAMP;
                    number = stamp ? chunk.header.time(number) : chunk.header.nanos(number);
                }
                row.integer(to, number);
            }
            case TIME, THREAD, STACK -> {}
        }
    }

    private static String list(JfrText text, JfrClass type, @Nullable Object value) {
        List<String> elements = new ArrayList<>();
        if (value instanceof Object[] array) {
            for (Object element : array) {
                elements.add(text.of(type, element));
            }
        }
        return String.join(",", elements);
    }

    private int thread(JfrChunk chunk, JfrField field, @Nullable Object value) {
        JfrClass type = chunk.metadata.type(field.type());
        if (type == null) {
            return -1;
        }
        Object id = chunk.resolve(chunk.member(type, value, "osThreadId"));
        if (!(id instanceof Long number) || number <= 0 || number > Integer.MAX_VALUE) {
            return -1;
        }
        int tid = number.intValue();
        if (!names.containsKey(tid) && names.size() < MOST_THREADS) {
            Object java = chunk.resolve(chunk.member(type, value, "javaName"));
            Object os = chunk.resolve(chunk.member(type, value, "osName"));
            boolean named = java instanceof String text && !text.isEmpty();
            Object name = named ? java : os;
            names.put(tid, name instanceof String text ? text : "");
        }
        return tid;
    }

    private int chain(JfrChunk chunk, JfrField field, @Nullable Object value) {
        if (value == null) {
            return 0;
        }
        Integer known = chains.get(value);
        if (known != null) {
            return known;
        }
        JfrClass type = chunk.metadata.type(field.type());
        JfrClass frame = type == null ? null : chunk.memberType(type, "frames");
        LongList entries = new LongList();
        if (type != null
                && frame != null
                && chunk.resolve(chunk.member(type, value, "frames")) instanceof Object[] list) {
            JfrText text = new JfrText(chunk);
            for (int i = 0; i < list.length && i < MOST_FRAMES; i++) {
                String name = text.part(frame, list[i], "method", 0);
                String how = text.part(frame, list[i], "type", 0);
                boolean nativeCode = how.equals("Native") || how.equals("C++");
                Frame.Kind kind = nativeCode ? Frame.Kind.USER : Frame.Kind.JIT;
                entries.add(store.frame(new Frame(name, "", kind)));
            }
        }
        int chain = store.chain(entries.toArray());
        chains.put(value, chain);
        return chain;
    }
}
