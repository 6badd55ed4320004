package sonde.recording;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Source;

/**
 * Fills batches whose payloads are made, not mapped: for formats whose fields do not lie in the
 * file as {@link Field} can say. Types come from {@link TypeBuilder}. A row is begun, its fields
 * are put in any order, and ended:
 *
 * {@snippet :
 * writer.begin(time, cpu, tid, type);
 * writer.integer(count, 7);
 * writer.text(path, "/etc/passwd");
 * writer.end();
 * }
 *
 * <p>Fields that are not put are zero or empty.
 */
public final class BatchWriter {
    /** A batch is handed out when its payloads exceed this. */
    private static final int FULL_BYTES = 4 << 20;

    private static final VarHandle U16 = view(short[].class);
    private static final VarHandle U32 = view(int[].class);
    private static final VarHandle U64 = view(long[].class);

    private final Source source;
    private final int[] fixedBytes;
    private Batch batch;
    private byte[] memory = new byte[1 << 16];
    private int used;
    private long time;
    private int cpu;
    private int tid;
    private int type;
    private int start;
    private int pid;
    private long weight;
    private int stackAt;
    private int stackDepth;
    private boolean sampled;

    /** A writer for the types of a source. */
    public BatchWriter(Source source) {
        this.source = source;
        this.batch = new Batch(source, ByteOrder.nativeOrder());
        this.fixedBytes = new int[source.types().size()];
        for (EventType one : source.types()) {
            for (Field field : one.fields()) {
                int end = field.offset() + field.sizeBytes();
                fixedBytes[one.id()] = Math.max(fixedBytes[one.id()], end);
            }
        }
        batch.reset(MemorySegment.ofArray(memory));
    }

    private static VarHandle view(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.nativeOrder());
    }

    /** Begins an empty batch; the last one is left alone when somebody retained it. */
    public void clear() {
        if (batch.isRetained()) {
            batch = new Batch(source, ByteOrder.nativeOrder());
            memory = new byte[memory.length];
        }
        used = 0;
        batch.reset(MemorySegment.ofArray(memory));
    }

    /** Whether the batch should be handed out before another row. */
    public boolean isFull() {
        return batch.isFull() || used > FULL_BYTES;
    }

    /** The rows since the last {@link #clear()}. */
    public Batch batch() {
        return batch;
    }

    /**
     * Begins a row.
     *
     * @param timeValue in the source's clock
     * @param cpuNumber -1 when unknown
     * @param tidValue -1 when unknown
     */
    public void begin(long timeValue, int cpuNumber, int tidValue, EventType eventType) {
        time = timeValue;
        cpu = cpuNumber;
        tid = tidValue;
        type = eventType.id();
        pid = -1;
        weight = 1;
        stackDepth = 0;
        sampled = false;
        start = (used + 7) & -8;
        used = start;
        int end = reserve(fixedBytes[type]);
        Arrays.fill(memory, start, end, (byte) 0);
    }

    /** Takes bytes at the end of the row; the end of them. */
    private int reserve(int count) {
        int end = Math.addExact(used, count);
        if (end > memory.length) {
            memory =
                    Arrays.copyOf(
                            memory, Math.max(end, (int) Math.min(2L * memory.length, 1 << 30)));
            batch.moveTo(MemorySegment.ofArray(memory));
        }
        used = end;
        return end;
    }

    /** Puts an integer field; what does not fit is cut. */
    public void integer(Field field, long value) {
        int at = start + field.offset();
        switch (field.sizeBytes()) {
            case 1 -> memory[at] = (byte) value;
            case 2 -> U16.set(memory, at, (short) value);
            case 4 -> U32.set(memory, at, (int) value);
            default -> U64.set(memory, at, value);
        }
    }

    /** Puts a {@link Field.Kind#FLOAT} of 8 bytes. */
    public void real(Field field, double value) {
        U64.set(memory, start + field.offset(), Double.doubleToRawLongBits(value));
    }

    /** Puts a text field. */
    public void text(Field field, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        bytes(field, bytes, 0, bytes.length);
    }

    /** Puts a span's bytes: text in UTF-8, or elements in native order. */
    public void bytes(Field field, byte[] from, int offset, int count) {
        int at = span(field, 1, count);
        System.arraycopy(from, offset, memory, at, count);
    }

    /** Puts a span's bytes from memory. */
    public void bytes(Field field, MemorySegment from, long offset, int count) {
        int at = span(field, 1, count);
        MemorySegment.copy(from, offset, MemorySegment.ofArray(memory), at, count);
    }

    /** Puts a span of integers, each cut to the field's element size. */
    public void array(Field field, long[] values, int count) {
        int element = field.elementBytes();
        int at = span(field, element, Math.multiplyExact(count, element));
        for (int i = 0; i < count; i++, at += element) {
            switch (element) {
                case 1 -> memory[at] = (byte) values[i];
                case 2 -> U16.set(memory, at, (short) values[i]);
                case 4 -> U32.set(memory, at, (int) values[i]);
                default -> U64.set(memory, at, values[i]);
            }
        }
    }

    private int span(Field field, int alignment, int count) {
        int at = (used - start + alignment - 1 & -alignment) + start;
        reserve(at - used + count);
        U32.set(memory, start + field.offset(), at - start);
        U32.set(memory, start + field.offset() + 4, count);
        return at;
    }

    /** Gives the row what samples have. */
    public void sample(int pidValue, long weightValue) {
        sampled = true;
        pid = pidValue;
        weight = weightValue;
    }

    /** Gives the row a call chain, callee first. */
    public void stack(long[] entries, int depth) {
        sampled = true;
        int at = used + 7 & -8;
        reserve(at - used + 8 * depth);
        for (int i = 0; i < depth; i++) {
            U64.set(memory, at + 8 * i, entries[i]);
        }
        stackAt = at;
        stackDepth = depth;
    }

    /** Ends the row. */
    public void end() {
        int row = batch.add(time, cpu, tid, type, start, used - start);
        if (sampled) {
            batch.sample(row, pid, weight, stackAt, stackDepth);
        }
    }
}
