package sonde.lang.output;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Numbers and texts in little-endian bytes; what lies behind the last byte reads as 0. */
final class ValueBytes {
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private ValueBytes() {}

    static long u64(byte[] bytes, int at) {
        return at >= 0 && at <= bytes.length - 8 ? (long) LONG.get(bytes, at) : slow(bytes, at, 8);
    }

    static void u64(byte[] bytes, int at, long value) {
        LONG.set(bytes, at, value);
    }

    static int s32(byte[] bytes, int at) {
        return at >= 0 && at <= bytes.length - 4
                ? (int) INT.get(bytes, at)
                : (int) slow(bytes, at, 4);
    }

    /** An integer of 1 to 8 bytes. */
    static long integer(byte[] bytes, int at, int sizeBytes, boolean signed) {
        return switch (sizeBytes) {
            case 8 -> u64(bytes, at);
            case 4 -> signed ? s32(bytes, at) : s32(bytes, at) & 0xffff_ffffL;
            default -> {
                int count = Math.clamp(sizeBytes, 0, 8);
                int unused = 64 - 8 * count;
                long value = slow(bytes, at, count);
                yield count == 0 ? 0 : signed ? value << unused >> unused : value;
            }
        };
    }

    /** A bitfield of 1 to 64 bits. */
    static long bits(byte[] bytes, long bitOffset, int bits, boolean signed) {
        int count = Math.clamp(bits, 1, 64);
        int shift = (int) (bitOffset & 7);
        int at = Math.clamp(bitOffset >> 3, 0, Integer.MAX_VALUE - 16);
        long value = u64(bytes, at) >>> shift;
        if (shift + count > 64) {
            value |= slow(bytes, at + 8, 1) << 64 - shift;
        }
        int unused = 64 - count;
        return signed ? value << unused >> unused : value << unused >>> unused;
    }

    private static long slow(byte[] bytes, int at, int count) {
        long value = 0;
        for (int i = count - 1; i >= 0; i--) {
            int from = at + i;
            value = value << 8 | (from >= 0 && from < bytes.length ? bytes[from] & 0xff : 0);
        }
        return value;
    }

    /** Where a text ends: at its NUL, its place's end or the last byte. */
    static int textEnd(byte[] bytes, int at, int sizeBytes) {
        int end = (int) Math.min(bytes.length, at + (long) sizeBytes);
        int found = at;
        while (found < end && bytes[found] != 0) {
            found++;
        }
        return found;
    }

    /** Bytes from an offset, as many as there are. */
    static byte[] slice(byte[] bytes, int at, int sizeBytes) {
        int from = Math.clamp(at, 0, bytes.length);
        int to = (int) Math.min(bytes.length, from + (long) Math.max(0, sizeBytes));
        return Arrays.copyOfRange(bytes, from, to);
    }
}
