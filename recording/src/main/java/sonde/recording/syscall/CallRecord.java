package sonde.recording.syscall;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A view on captured bytes: a call's begin or end, a signal, the end of a thread.
 *
 * <p>The bytes, all little-endian: u32 length of the whole, u8 kind, u8 flags, u16 unused, u64 time
 * in nanoseconds (CLOCK_MONOTONIC), u32 process, u32 thread, s64 number, s64 result, u64 arguments
 * (six), u64 stack pointer, u64 instruction pointer, u64 records lost before. Then pieces of
 * memory: u8 argument, u8 part, u16 flags, u32 length, the bytes, padded to 8.
 *
 * <p>The number is the call's, or the signal's, or of an end the status as wait4(2) gives it.
 */
public final class CallRecord {
    public static final int LENGTH = 0;
    public static final int KIND = 4;
    public static final int FLAGS = 5;
    public static final int TIME = 8;
    public static final int PID = 16;
    public static final int TID = 20;
    public static final int NUMBER = 24;
    public static final int RESULT = 32;
    public static final int ARGUMENTS = 40;
    public static final int LOST = 104;
    public static final int PIECES = 112;

    /** The number of the "argument" that is the stack pointer. */
    public static final int STACK_POINTER = 6;

    public static final int ENTER = 0;
    public static final int EXIT = 1;

    /** A signal that is delivered. */
    public static final int SIGNAL = 2;

    /** A signal that was sent; the result is 0 when it waits for its delivery, 1 when ignored. */
    public static final int SENT = 3;

    /** The end of a thread. */
    public static final int END = 4;

    /** A thread took over the number of its process by exec; the result is its old number. */
    public static final int EXEC = 5;

    /** Flag of a record: a call of a 32-bit program. */
    public static final int COMPAT = 1;

    /** Flag of a record: the call was not made as it was asked for (injection). */
    public static final int INJECTED = 2;

    /** Flag of a record: the call was delayed. */
    public static final int DELAYED = 4;

    /** Flag of a record: memory of the call was changed. */
    public static final int POKED = 8;

    /** Flag of a piece: the memory could not be read. */
    public static final int FAILED = 1;

    /** Flag of a piece: read at the call's end for the operation at its begin. */
    public static final int AGAIN = 2;

    /** Flag of a piece: what is behind a page's end could not be read. */
    public static final int CUT = 4;

    private static final VarHandle U16 = view(short[].class);
    private static final VarHandle U32 = view(int[].class);
    private static final VarHandle U64 = view(long[].class);

    private byte[] bytes = {};
    private int offset;

    /** Nothing yet. */
    public CallRecord() {}

    private static VarHandle view(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
    }

    static int u16(byte[] bytes, int at) {
        return (short) U16.get(bytes, at) & 0xffff;
    }

    static int s32(byte[] bytes, int at) {
        return (int) U32.get(bytes, at);
    }

    static long s64(byte[] bytes, int at) {
        return (long) U64.get(bytes, at);
    }

    /** Looks at the record there. */
    public CallRecord at(byte[] array, int start) {
        bytes = array;
        offset = start;
        return this;
    }

    /** What strace says behind the result of a call that was changed. */
    String remark() {
        int flags = bytes[offset + FLAGS];
        String injected =
                switch (flags & (INJECTED | POKED)) {
                    case INJECTED -> " (INJECTED)";
                    case POKED -> " (INJECTED: args)";
                    case INJECTED | POKED -> " (INJECTED: args, retval)";
                    default -> "";
                };
        return injected + ((flags & DELAYED) != 0 ? " (DELAYED)" : "");
    }

    /** A copy of the bytes. */
    public CallRecord copy() {
        byte[] own = new byte[length()];
        System.arraycopy(bytes, offset, own, 0, own.length);
        return new CallRecord().at(own, 0);
    }

    /** The array that it is in. */
    public byte[] bytes() {
        return bytes;
    }

    /** Bytes of the whole record. */
    public int length() {
        return Math.min(s32(bytes, offset), bytes.length - offset);
    }

    /** ENTER to EXEC. */
    public int kind() {
        return bytes[offset + KIND];
    }

    /** CLOCK_MONOTONIC. */
    public long nanos() {
        return s64(bytes, offset + TIME);
    }

    /** Its process. */
    public int pid() {
        return s32(bytes, offset + PID);
    }

    /** Its thread. */
    public int tid() {
        return s32(bytes, offset + TID);
    }

    /** The call, the signal, or the status of an end; of 32-bit programs beyond that. */
    public long number() {
        long number = s64(bytes, offset + NUMBER);
        boolean compat = (bytes[offset + FLAGS] & COMPAT) != 0;
        return compat ? CallTable.COMPAT_BASE + (number & 0xffffffffL) : number;
    }

    /** What the call returned. */
    public long result() {
        return s64(bytes, offset + RESULT);
    }

    /** Records that were lost before this one, so far. */
    public long lost() {
        return s64(bytes, offset + LOST);
    }

    /** An argument, 0 to 5; 6 is the stack pointer, 7 the instruction pointer. */
    public long argument(int index) {
        return s64(bytes, offset + ARGUMENTS + 8 * index);
    }

    /** Whether memory could not be read, or only a part of it. */
    boolean lacksMemory() {
        int end = offset + length();
        for (int at = offset + PIECES; at + 8 <= end; ) {
            int length = s32(bytes, at + 4);
            if ((u16(bytes, at + 2) & (FAILED | CUT)) != 0) {
                return true;
            } else if (length < 0 || length > end - at - 8) {
                return false;
            }
            at += 8 + (length + 7 & ~7);
        }
        return false;
    }

    /**
     * The offset of a piece's header in {@link #bytes}; -1 when it was not captured.
     *
     * @param flags that it must have: {@link #AGAIN} for one that was read at the end for the begin
     */
    public int piece(int argument, int part, int flags) {
        int end = offset + length();
        int at = offset + PIECES;
        while (at + 8 <= end) {
            int length = s32(bytes, at + 4);
            int found = u16(bytes, at + 2);
            if (length < 0 || length > end - at - 8) {
                return -1;
            }
            if ((bytes[at] & 0xff) == argument
                    && (bytes[at + 1] & 0xff) == part
                    && found == flags) {
                return at;
            }
            at += 8 + (length + 7 & ~7);
        }
        return -1;
    }
}
