package sonde.recording.ctf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Integers at any bit of a file (CTF 1.8.3, section 4.1.5; CTF2-SPEC-2.0, section 6.4.3). */
final class BitReader {
    private static final ValueLayout.OfLong LITTLE =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong BIG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private BitReader() {}

    /**
     * Reads an integer without sign.
     *
     * @param at bits from the start of the memory
     * @param count 1 to 64, all of them inside
     */
    static long read(MemorySegment memory, long at, int count, boolean bigEndian) {
        long from = at >>> 3;
        int shift = (int) at & 7;
        if (from + 9 > memory.byteSize()) {
            return slowly(memory, at, count, bigEndian);
        }
        int spill = count + shift - 64;
        if (bigEndian) {
            long value = memory.get(BIG, from) << shift >>> (64 - count);
            if (spill > 0) {
                value |= next(memory, from) >>> (8 - spill);
            }
            return value;
        }
        long value = memory.get(LITTLE, from) >>> shift;
        if (spill > 0) {
            value |= next(memory, from) << (64 - shift);
        }
        return count == 64 ? value : value & (1L << count) - 1;
    }

    private static long next(MemorySegment memory, long from) {
        return memory.get(ValueLayout.JAVA_BYTE, from + 8) & 0xff;
    }

    private static long slowly(MemorySegment memory, long at, int count, boolean bigEndian) {
        long value = 0;
        for (int i = 0; i < count; i++) {
            long bit = at + i;
            int octet = memory.get(ValueLayout.JAVA_BYTE, bit >>> 3);
            if (bigEndian) {
                value = value << 1 | octet >>> (7 - (bit & 7)) & 1;
            } else {
                value |= (long) (octet >>> (bit & 7) & 1) << i;
            }
        }
        return value;
    }

    /** Gives the low bits a sign. */
    static long signed(long value, int count) {
        return value << (64 - count) >> (64 - count);
    }

    /** The low bits in the other order. */
    static long reversed(long value, int count) {
        return Long.reverse(value) >>> (64 - count);
    }
}
