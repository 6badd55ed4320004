package sonde.recording.ctf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Looks for the NUL of a text, eight bytes at a time. */
final class NulSearch {
    private static final ValueLayout.OfLong WORD =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long TOPS = 0x8080_8080_8080_8080L;

    private NulSearch() {}

    /** The first NUL from {@code from} on and before {@code to}; -1 when there is none. */
    static long find(MemorySegment memory, long from, long to) {
        long at = from;
        for (; at + 8 <= to; at += 8) {
            long word = memory.get(WORD, at);
            long zeros = word - ONES & ~word & TOPS;
            if (zeros != 0) {
                return at + (Long.numberOfTrailingZeros(zeros) >>> 3);
            }
        }
        for (; at < to; at++) {
            if (memory.get(ValueLayout.JAVA_BYTE, at) == 0) {
                return at;
            }
        }
        return -1;
    }
}
