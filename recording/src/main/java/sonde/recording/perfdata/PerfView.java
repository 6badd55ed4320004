package sonde.recording.perfdata;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Integers of records in a file's byte order, at absolute offsets of a segment. They are read
 * through byte buffers: accesses of segments are slow until they are compiled well, which takes as
 * long as reading a file of some 100 MB.
 */
final class PerfView {
    private static final int WINDOW_BITS = 30;
    private static final int WINDOW_MASK = (1 << WINDOW_BITS) - 1;

    final MemorySegment segment;

    /** One each 2^30 bytes, long enough for an integer that begins in its last byte. */
    private final ByteBuffer[] windows;

    private final ByteOrder order;

    PerfView(MemorySegment segment, boolean swapped) {
        this.segment = segment;
        boolean big = swapped == (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN);
        order = big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        windows = new ByteBuffer[(int) (segment.byteSize() >>> WINDOW_BITS) + 1];
        for (int i = 0; i < windows.length; i++) {
            long start = (long) i << WINDOW_BITS;
            long bytes = Math.min(segment.byteSize() - start, WINDOW_MASK + 8L);
            windows[i] = segment.asSlice(start, bytes).asByteBuffer().order(order);
        }
    }

    private ByteBuffer window(long offset) {
        return windows[(int) (offset >>> WINDOW_BITS)];
    }

    int u8(long offset) {
        return window(offset).get((int) offset & WINDOW_MASK) & 0xff;
    }

    int u16(long offset) {
        return window(offset).getShort((int) offset & WINDOW_MASK) & 0xffff;
    }

    int u32(long offset) {
        return window(offset).getInt((int) offset & WINDOW_MASK);
    }

    long u64(long offset) {
        return window(offset).getLong((int) offset & WINDOW_MASK);
    }

    void put8(long offset, byte value) {
        window(offset).put((int) offset & WINDOW_MASK, value);
    }

    void put16(long offset, int value) {
        window(offset).putShort((int) offset & WINDOW_MASK, (short) value);
    }

    void put32(long offset, int value) {
        window(offset).putInt((int) offset & WINDOW_MASK, value);
    }

    void put64(long offset, long value) {
        window(offset).putLong((int) offset & WINDOW_MASK, value);
    }

    void copy(PerfView from, long at, long to, long count) {
        MemorySegment.copy(from.segment, at, segment, to, count);
    }

    void zero(long offset, long count) {
        segment.asSlice(offset, count).fill((byte) 0);
    }

    boolean isBigEndian() {
        return order == ByteOrder.BIG_ENDIAN;
    }
}
