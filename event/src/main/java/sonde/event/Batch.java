package sonde.event;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Up to {@link #CAPACITY} events of one lane in columns, sorted by time. What does not fit a column
 * (fields, call chains) stays where it lies and is reached by offset.
 *
 * <p>A batch is filled by its lane and read by everyone else; it stays valid until the lane's next
 * call unless {@link #retain() retained}. Accessors check the payload's bounds: reading a field
 * beyond them throws {@link IndexOutOfBoundsException}, which never happens for rows whose type's
 * fields were checked by the reader against {@link #payloadBytes}.
 */
public final class Batch {
    /** Most rows of a batch. */
    public static final int CAPACITY = 1 << 14;

    private static final int FIRST_ROWS = 1 << 8;

    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    private final Source source;
    private final boolean swapped;
    // Columns grow: a retained batch of a few rows must not cost as much as a full one.
    private long[] time = new long[FIRST_ROWS];
    private int[] tid = new int[FIRST_ROWS];
    private int[] type = new int[FIRST_ROWS];
    private short[] cpu = new short[FIRST_ROWS];
    private long[] payload = new long[FIRST_ROWS];
    private int[] payloadBytes = new int[FIRST_ROWS];
    // Columns of samples, made on first use: most ftrace rows have none of them.
    private int[] pid = new int[0];
    private long[] weight = new long[0];
    private long[] stack = new long[0];
    private int[] stackDepth = new int[0];
    // Call chains that were made, not recorded; their stack offset is the complement of the place.
    private long[] chains = new long[0];
    private int chainsUsed;
    private byte[] chainEnd = new byte[0];
    private MemorySegment data = MemorySegment.NULL;
    private int size;
    private final AtomicInteger holds = new AtomicInteger();

    /**
     * An empty batch.
     *
     * @param source whose types the rows have
     * @param order byte order of the payloads
     */
    public Batch(Source source, ByteOrder order) {
        this.source = source;
        this.swapped = order != ByteOrder.nativeOrder();
    }

    /** The source whose numbering {@link #type} uses. */
    public Source source() {
        return source;
    }

    /** Number of rows. */
    public int size() {
        return size;
    }

    /** Whether another row fits. */
    public boolean isFull() {
        return size == CAPACITY;
    }

    /** Empties the batch; rows added from now on point into {@code memory}. */
    public void reset(MemorySegment memory) {
        data = memory;
        size = 0;
        chainsUsed = 0;
    }

    /** Replaces the memory by a larger copy of it: offsets stay. */
    public void moveTo(MemorySegment memory) {
        data = memory;
    }

    /**
     * Adds a row.
     *
     * @param timeValue in the source's clock
     * @param cpuNumber where it happened, -1 when unknown
     * @param tidValue kernel pid of the thread, -1 when unknown
     * @param typeId index in the source's types
     * @param offset of the payload in the batch's memory
     * @param sizeBytes of the payload
     * @return the row
     */
    public int add(
            long timeValue, int cpuNumber, int tidValue, int typeId, long offset, int sizeBytes) {
        int row = size++;
        if (row == time.length) {
            grow();
        }
        time[row] = timeValue;
        cpu[row] = (short) cpuNumber;
        tid[row] = tidValue;
        type[row] = typeId;
        payload[row] = offset;
        payloadBytes[row] = sizeBytes;
        if (weight.length != 0) {
            pid[row] = -1;
            weight[row] = 1;
            stackDepth[row] = 0;
        }
        return row;
    }

    private void grow() {
        int rows = Math.min(4 * time.length, CAPACITY);
        time = Arrays.copyOf(time, rows);
        tid = Arrays.copyOf(tid, rows);
        type = Arrays.copyOf(type, rows);
        cpu = Arrays.copyOf(cpu, rows);
        payload = Arrays.copyOf(payload, rows);
        payloadBytes = Arrays.copyOf(payloadBytes, rows);
        if (weight.length != 0) {
            pid = Arrays.copyOf(pid, rows);
            weight = Arrays.copyOf(weight, rows);
            stack = Arrays.copyOf(stack, rows);
            stackDepth = Arrays.copyOf(stackDepth, rows);
        }
    }

    /**
     * Gives the row just added what samples have.
     *
     * @param pidValue process of the thread, -1 when unknown
     * @param weightValue what the row stands for: a sample's period, a loss's count
     * @param stackOffset of the call chain in the batch's memory: u64 addresses, callee first, with
     *     the PERF_CONTEXT_* markers of perf_event.h
     * @param depth entries of the chain, 0 for none
     */
    public void sample(int row, int pidValue, long weightValue, long stackOffset, int depth) {
        if (weight.length == 0) {
            pid = new int[time.length];
            Arrays.fill(pid, -1);
            weight = new long[time.length];
            Arrays.fill(weight, 1);
            stack = new long[time.length];
            stackDepth = new int[time.length];
        }
        pid[row] = pidValue;
        weight[row] = weightValue;
        stack[row] = stackOffset;
        stackDepth[row] = depth;
    }

    /**
     * Gives a row that has been {@link #sample sampled} another call chain than the recorded one.
     *
     * @param entries callee first, with the PERF_CONTEXT_* markers; copied
     * @param depth how many of them there are
     * @param end why it has no more, in the numbers of who made it
     */
    public void chain(int row, long[] entries, int depth, int end) {
        if (chainEnd.length < time.length) {
            chainEnd = Arrays.copyOf(chainEnd, time.length);
        }
        chainEnd[row] = (byte) end;
        if (chains.length - chainsUsed < depth) {
            chains = Arrays.copyOf(chains, Math.max(2 * chains.length, chainsUsed + depth + 1024));
        }
        System.arraycopy(entries, 0, chains, chainsUsed, depth);
        stack[row] = ~chainsUsed;
        stackDepth[row] = depth;
        chainsUsed += depth;
    }

    /** Whether the call chain was made by {@link #chain}, from what the recorder had copied. */
    public boolean isChainMade(int row) {
        return stack.length != 0 && stackDepth[row] > 0 && stack[row] < 0;
    }

    /** Why a made call chain has no more entries; -1 of a recorded one. */
    public int chainEnd(int row) {
        return isChainMade(row) ? chainEnd[row] : -1;
    }

    /** Time in the source's clock. */
    public long time(int row) {
        return time[row];
    }

    /** CPU number, -1 when unknown. */
    public int cpu(int row) {
        return cpu[row];
    }

    /** Thread (kernel pid), -1 when unknown. */
    public int tid(int row) {
        return tid[row];
    }

    /** Process of the thread (kernel tgid), -1 when the source does not say. */
    public int pid(int row) {
        return pid.length == 0 ? -1 : pid[row];
    }

    /** Index of the event type in the source's types. */
    public int type(int row) {
        return type[row];
    }

    /** What the row stands for: the period of a sample, the count of a loss, else 1. */
    public long weight(int row) {
        return weight.length == 0 ? 1 : weight[row];
    }

    /** Bytes of the payload; the field offsets count from its start. */
    public int payloadBytes(int row) {
        return payloadBytes[row];
    }

    /** Entries of the call chain, 0 for none. */
    public int stackDepth(int row) {
        return stackDepth.length == 0 ? 0 : stackDepth[row];
    }

    /** Entry {@code i} of the call chain, callee first; may be a PERF_CONTEXT_* marker. */
    public long stackEntry(int row, int i) {
        long at = stack[row];
        if (at < 0) {
            return chains[(int) ~at + i];
        }
        long value = data.get(U64, at + 8L * i);
        return swapped ? Long.reverseBytes(value) : value;
    }

    /** Unsigned byte at an offset of the payload. */
    public int u8(int row, int offset) {
        return data.get(ValueLayout.JAVA_BYTE, at(row, offset, 1)) & 0xff;
    }

    /** Unsigned 16 bits at an offset of the payload. */
    public int u16(int row, int offset) {
        short value = data.get(U16, at(row, offset, 2));
        return (swapped ? Short.reverseBytes(value) : value) & 0xffff;
    }

    /** 32 bits at an offset of the payload. */
    public int u32(int row, int offset) {
        int value = data.get(U32, at(row, offset, 4));
        return swapped ? Integer.reverseBytes(value) : value;
    }

    /** 64 bits at an offset of the payload. */
    public long u64(int row, int offset) {
        long value = data.get(U64, at(row, offset, 8));
        return swapped ? Long.reverseBytes(value) : value;
    }

    /** A copy of part of the payload. */
    public byte[] bytes(int row, int offset, int sizeBytes) {
        byte[] copy = new byte[sizeBytes];
        MemorySegment.copy(
                data, ValueLayout.JAVA_BYTE, at(row, offset, sizeBytes), copy, 0, sizeBytes);
        return copy;
    }

    /** Copies part of the payload to {@code target}, from {@code targetOffset} on. */
    public void copy(int row, int offset, int sizeBytes, byte[] target, int targetOffset) {
        MemorySegment.copy(
                data,
                ValueLayout.JAVA_BYTE,
                at(row, offset, sizeBytes),
                target,
                targetOffset,
                sizeBytes);
    }

    private long at(int row, int offset, int sizeBytes) {
        if (offset < 0 || sizeBytes < 0 || offset > payloadBytes[row] - sizeBytes) {
            throw new IndexOutOfBoundsException(
                    source.types().get(type[row]).qualifiedName()
                            + ": bytes "
                            + offset
                            + ".."
                            + (offset + sizeBytes)
                            + " of a payload of "
                            + payloadBytes[row]);
        }
        return payload[row] + offset;
    }

    /** Keeps the batch from being refilled until {@link #release()}; by any thread. */
    public Batch retain() {
        holds.incrementAndGet();
        return this;
    }

    /** Undoes one {@link #retain()}. */
    public void release() {
        if (holds.decrementAndGet() < 0) {
            throw new IllegalStateException("released more often than retained");
        }
    }

    /** Whether somebody holds it: its lane must fill another one. */
    public boolean isRetained() {
        return holds.get() > 0;
    }
}
