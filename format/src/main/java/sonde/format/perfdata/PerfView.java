package sonde.format.perfdata;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Integers of records in a file's byte order, at absolute offsets of a segment. */
final class PerfView {
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    final MemorySegment segment;
    private final boolean swapped;

    PerfView(MemorySegment segment, boolean swapped) {
        this.segment = segment;
        this.swapped = swapped;
    }

    int u8(long offset) {
        return segment.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
    }

    int u16(long offset) {
        short value = segment.get(U16, offset);
        return (swapped ? Short.reverseBytes(value) : value) & 0xffff;
    }

    int u32(long offset) {
        int value = segment.get(U32, offset);
        return swapped ? Integer.reverseBytes(value) : value;
    }

    long u64(long offset) {
        long value = segment.get(U64, offset);
        return swapped ? Long.reverseBytes(value) : value;
    }

    void put8(long offset, byte value) {
        segment.set(ValueLayout.JAVA_BYTE, offset, value);
    }

    void put16(long offset, int value) {
        segment.set(U16, offset, swapped ? Short.reverseBytes((short) value) : (short) value);
    }

    void put32(long offset, int value) {
        segment.set(U32, offset, swapped ? Integer.reverseBytes(value) : value);
    }

    void put64(long offset, long value) {
        segment.set(U64, offset, swapped ? Long.reverseBytes(value) : value);
    }

    void copy(PerfView from, long at, long to, long count) {
        MemorySegment.copy(from.segment, at, segment, to, count);
    }

    void zero(long offset, long count) {
        segment.asSlice(offset, count).fill((byte) 0);
    }

    boolean isBigEndian() {
        return swapped == (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN);
    }
}
