package sonde.recording.ctf;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Growing memory that payloads are made in: fixed fields first, spans behind them. */
final class PayloadBuffer {
    /** An event that becomes larger is not an event. */
    private static final int MOST_BYTES = 1 << 28;

    private static final VarHandle U16 = view(short[].class);
    private static final VarHandle U32 = view(int[].class);
    private static final VarHandle U64 = view(long[].class);

    byte[] bytes;

    /** Where the row begins. */
    int start;

    /** End of what has been put. */
    int used;

    PayloadBuffer(int sizeBytes) {
        bytes = new byte[sizeBytes];
    }

    private static VarHandle view(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.nativeOrder());
    }

    void begin(int fixedBytes, boolean clear) throws PacketOverrun {
        start = used + 7 & -8;
        used = start;
        int end = take(fixedBytes);
        if (clear) {
            Arrays.fill(bytes, start, end, (byte) 0);
        }
    }

    /** Room for more bytes; the end of them. */
    int take(long count) throws PacketOverrun {
        long end = used + count;
        if (end - start > MOST_BYTES || end > Integer.MAX_VALUE - 64) {
            throw new PacketOverrun("an event of more than " + MOST_BYTES + " bytes");
        }
        if (end > bytes.length) {
            long size = Math.max(end, Math.min(2L * bytes.length, Integer.MAX_VALUE - 64));
            bytes = Arrays.copyOf(bytes, (int) size);
        }
        used = (int) end;
        return used;
    }

    void put(int at, int sizeBytes, long value) {
        raw(start + at, sizeBytes, value);
    }

    void raw(int at, int sizeBytes, long value) {
        switch (sizeBytes) {
            case 1 -> bytes[at] = (byte) value;
            case 2 -> U16.set(bytes, at, (short) value);
            case 4 -> U32.set(bytes, at, (int) value);
            default -> U64.set(bytes, at, value);
        }
    }

    long get(int at, int sizeBytes) {
        return switch (sizeBytes) {
            case 1 -> bytes[start + at];
            case 2 -> (short) U16.get(bytes, start + at);
            case 4 -> (int) U32.get(bytes, start + at);
            default -> (long) U64.get(bytes, start + at);
        };
    }

    /** Takes bytes for a span and says so in its field; where they begin in {@link #bytes}. */
    int span(int at, int alignment, long count) throws PacketOverrun {
        int from = (used - start + alignment - 1 & -alignment) + start;
        take(from - used + count);
        U32.set(bytes, start + at, from - start);
        U32.set(bytes, start + at + 4, (int) count);
        return from;
    }
}
