package sonde.recording;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.FrameNames;
import sonde.event.Recording;
import sonde.event.result.Frame;

/**
 * Rows of a format that does not hold them by time, or not as columns: they are gathered in any
 * order, with types, frames and call chains as they turn up, and become a {@link Recording}. The
 * rows lie outside the heap, about 40 bytes each beside their payload; beyond 64 MiB in a mapped
 * temporary file.
 *
 * {@snippet :
 * RowStore rows = new RowStore();
 * EventType open = rows.type(new TypeBuilder("app", "open").text("path"));
 * Field path = open.field("path").orElseThrow();
 * rows.begin(time, cpu, tid, open).text(path, "/etc/passwd").end();
 * return rows.recording("app", Clock.MONO, notes);
 * }
 */
public final class RowStore implements AutoCloseable {
    static final int HEADER_BYTES = 40;
    static final int CHUNK_BYTES = 8 << 20;
    static final int MOST_PAYLOAD_BYTES = 64 << 20;

    /** Beyond it rows lie in a file that has no name. */
    private static final long MOST_MEMORY = 64L << 20;

    /** Entries of all chains together: 128 MB. */
    static final int MOST_CHAIN_ENTRIES = 16 << 20;

    private static final VarHandle U16 = view(short[].class);
    private static final VarHandle U32 = view(int[].class);
    private static final VarHandle U64 = view(long[].class);

    final Arena arena = Arena.ofShared();
    final List<EventType> types = new ArrayList<>();
    long sampleNanos;
    final List<Chunk> chunks = new ArrayList<>();
    final LongList stackStarts = new LongList();
    final LongList stackEntries = new LongList();
    private final Map<Frame, Long> frameIds = new HashMap<>();
    private final List<Frame> frames = new ArrayList<>();
    private final Map<Chain, Integer> stackIds = new HashMap<>();
    private int[] fixedBytes = new int[16];
    private byte[] row = new byte[1 << 12];
    private int used;
    private long time;
    private int cpu;
    private int tid;
    private int type;
    private int pid;
    private long weight;
    private int stack;
    private long leftOut;
    private @Nullable Chunk chunk;
    private final RowSpill spill = new RowSpill(arena);
    private long inMemory;

    /** Memory with rows one behind the other. */
    static final class Chunk {
        final MemorySegment memory;
        int used;
        int rows;
        boolean sorted = true;
        long last = Long.MIN_VALUE;
        long first = Long.MAX_VALUE;

        Chunk(MemorySegment memory) {
            this.memory = memory;
        }
    }

    private record Chain(long[] entries) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Chain chain && Arrays.equals(entries, chain.entries);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(entries);
        }
    }

    /** An empty store. */
    public RowStore() {
        stackStarts.add(0);
        stackStarts.add(0);
    }

    private static VarHandle view(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.nativeOrder());
    }

    /** Adds a type; those of equal name are the caller's to avoid. */
    public EventType type(TypeBuilder builder) {
        EventType built = builder.build(types.size());
        types.add(built);
        if (built.id() == fixedBytes.length) {
            fixedBytes = Arrays.copyOf(fixedBytes, 2 * built.id());
        }
        for (Field field : built.fields()) {
            int end = field.offset() + field.sizeBytes();
            fixedBytes[built.id()] = Math.max(fixedBytes[built.id()], end);
        }
        return built;
    }

    /** The entry of call chains that stands for a frame. */
    public long frame(Frame frame) {
        return frameIds.computeIfAbsent(
                frame,
                added -> {
                    frames.add(added);
                    return (long) frames.size(); // 0 ends chains of addresses
                });
    }

    /** The number of a call chain, for {@link #stack(int)}; 0 is none. Callee first. */
    public int chain(long... entries) {
        if (entries.length == 0) {
            return 0;
        }
        Integer known = stackIds.get(new Chain(entries));
        if (known != null) {
            return known;
        }
        if (stackEntries.size() + entries.length > MOST_CHAIN_ENTRIES) {
            leftOut++;
            return 0;
        }
        int id = stackStarts.size() - 1;
        for (long entry : entries) {
            stackEntries.add(entry);
        }
        stackStarts.add(stackEntries.size());
        stackIds.put(new Chain(entries), id);
        return id;
    }

    /**
     * Begins a row; its fields may be put in any order, those that are not are zero or empty.
     *
     * @param timeValue in the recording's clock
     * @param cpuNumber -1 when unknown
     * @param tidValue -1 when unknown
     */
    public RowStore begin(long timeValue, int cpuNumber, int tidValue, EventType eventType) {
        time = timeValue;
        cpu = cpuNumber;
        tid = tidValue;
        type = eventType.id();
        pid = -1;
        weight = 1;
        stack = 0;
        used = 0;
        reserve(fixedBytes[type]);
        Arrays.fill(row, 0, used, (byte) 0);
        return this;
    }

    private void reserve(int count) {
        int end = Math.addExact(used, count);
        if (end > row.length) {
            row = Arrays.copyOf(row, Math.max(end, 2 * row.length));
        }
        used = end;
    }

    /** Puts an integer field; what does not fit is cut. */
    public RowStore integer(Field field, long value) {
        int at = field.offset();
        switch (field.sizeBytes()) {
            case 1 -> row[at] = (byte) value;
            case 2 -> U16.set(row, at, (short) value);
            case 4 -> U32.set(row, at, (int) value);
            default -> U64.set(row, at, value);
        }
        return this;
    }

    /** Puts a {@link Field.Kind#FLOAT} of 8 bytes. */
    public RowStore real(Field field, double value) {
        U64.set(row, field.offset(), Double.doubleToRawLongBits(value));
        return this;
    }

    /** Puts a text field. */
    public RowStore text(Field field, String value) {
        return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    /** Puts a span's bytes: text in UTF-8, or elements in native order; cut at 64 MB. */
    public RowStore bytes(Field field, byte[] value) {
        int at = used;
        int count = Math.min(value.length, MOST_PAYLOAD_BYTES - used);
        reserve(count);
        System.arraycopy(value, 0, row, at, count);
        U32.set(row, field.offset(), at);
        U32.set(row, field.offset() + 4, count);
        return this;
    }

    /** Puts an array of integers of 8 bytes. */
    public RowStore array(Field field, LongList values) {
        byte[] bytes = new byte[8 * values.size()];
        for (int i = 0; i < values.size(); i++) {
            U64.set(bytes, 8 * i, values.at(i));
        }
        reserve((used + 7 & -8) - used);
        return bytes(field, bytes);
    }

    /** Gives the row what samples have. */
    public RowStore sample(int pidValue, long weightValue) {
        pid = pidValue;
        weight = weightValue;
        return this;
    }

    /** Gives the row a call chain by its number. */
    public RowStore stack(int chain) {
        stack = chain;
        return this;
    }

    /** Ends the row. */
    public void end() {
        int size = HEADER_BYTES + used + 7 & -8;
        Chunk into = chunk;
        if (into == null || size > into.memory.byteSize() - into.used) {
            int wanted = chunks.isEmpty() ? 1 << 16 : CHUNK_BYTES;
            int bytes = Math.max(size, wanted);
            into = new Chunk(inMemory < MOST_MEMORY ? arena.allocate(bytes, 8) : spill.take(bytes));
            inMemory += bytes;
            chunks.add(into);
            chunk = into;
        }
        MemorySegment memory = into.memory;
        long at = into.used;
        memory.set(ValueLayout.JAVA_LONG, at, time);
        memory.set(ValueLayout.JAVA_INT, at + 8, type);
        memory.set(ValueLayout.JAVA_INT, at + 12, tid);
        memory.set(ValueLayout.JAVA_INT, at + 16, pid);
        memory.set(ValueLayout.JAVA_INT, at + 20, cpu);
        memory.set(ValueLayout.JAVA_INT, at + 24, used);
        memory.set(ValueLayout.JAVA_INT, at + 28, stack);
        memory.set(ValueLayout.JAVA_LONG, at + 32, weight);
        MemorySegment.copy(row, 0, memory, ValueLayout.JAVA_BYTE, at + HEADER_BYTES, used);
        into.used += size;
        into.rows++;
        into.sorted &= time >= into.last;
        into.last = Math.max(into.last, time);
        into.first = Math.min(into.first, time);
    }

    /** Fills a store and makes its recording. */
    @FunctionalInterface
    public interface Filling<E extends Exception> {
        /** Reads everything. */
        Recording fill() throws E;
    }

    /** What a reader makes of this store, which is closed when that fails. */
    public <E extends Exception> Recording filled(Filling<E> filling) throws E {
        boolean done = false;
        try {
            Recording recording = filling.fill();
            done = true;
            return recording;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /** How far apart samples of what runs were to be taken; see {@link Recording#sampleNanos}. */
    public void sampleNanos(long nanos) {
        sampleNanos = nanos;
    }

    /**
     * What was gathered, by time; rows of one time stay in the order in which they came. The store
     * takes no more rows afterwards and is closed with the recording.
     */
    public Recording recording(String name, Clock clock, List<String> notes) {
        List<String> all = new ArrayList<>(notes);
        if (leftOut > 0) {
            all.add(leftOut + " call chains are left out: there are too many different ones.");
        }
        FrameNames names = frames.isEmpty() ? null : this::name;
        return new StoredRecording(this, name, clock, all, names);
    }

    private Frame name(long entry) {
        return entry > 0 && entry <= frames.size()
                ? frames.get((int) entry - 1)
                : Frame.label("0x" + Long.toHexString(entry));
    }

    @Override
    public void close() {
        spill.close();
        arena.close();
    }
}
