package sonde.format.perfdata;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

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
}
