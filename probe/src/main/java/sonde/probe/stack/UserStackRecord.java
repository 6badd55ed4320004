package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * A user stack as a program in the kernel writes it: a head of 48 bytes, then the addresses,
 * innermost first. Bytes may follow.
 *
 * @param bytes at least {@link #HEAD_BYTES}
 */
public record UserStackRecord(MemorySegment bytes) {
    /** Length of the head. */
    public static final int HEAD_BYTES = UnwindScratch.HEAD_BYTES;

    /** More frames are cut off. */
    public static final int MOST_FRAMES = UnwindScratch.MOST_FRAMES;

    // Bytes from the start of the head.
    static final int MAGIC = 0;
    static final int EVENT = 4;
    static final int PID = 8;
    static final int TID = 12;
    static final int COUNT = 16;
    static final int END = 24;
    static final int GUESSED = 32;

    /** "ustk" in the order of little-endian bytes; no number of a system call. */
    static final int MAGIC_WORD = 0x6b747375;

    /**
     * "ucpy": a copy of the stack, written before the record of a stack that ends by {@link
     * UserStackEnd#NO_TABLE}. Its head has {@link #EVENT} as above, {@link #COUNT} bytes of stack,
     * and the registers of the last frame.
     */
    static final int COPY_WORD = 0x79706375;

    /** Whether the last frame's address is the instruction itself. */
    static final int COPY_EXACT = 8;

    static final int COPIED_REGISTERS = 24;

    /** By DWARF's number: rbx, rbp, rsp, and the instruction. */
    static final int[] COPY_REGISTERS = {3, 6, 7, 16};

    static final int COPY_HEAD = COPIED_REGISTERS + 8 * COPY_REGISTERS.length;

    /** Pages of a copy beside that of its beginning; a record of perf has less than 64 KiB. */
    static final int COPY_PAGES = 13;

    static final int COPY_BYTES = COPY_HEAD + (COPY_PAGES + 1) * UnwindScratch.PAGE;

    private static final UserStackEnd[] ENDS = UserStackEnd.values();

    /** Whether it is one: other programs write into the same rings. */
    public boolean isStack() {
        return bytes.get(JAVA_INT_UNALIGNED, MAGIC) == MAGIC_WORD;
    }

    /** Whether it is the copy of a stack that goes with the next record. */
    public boolean isCopy() {
        return bytes.get(JAVA_INT_UNALIGNED, MAGIC) == COPY_WORD;
    }

    /** Kernel pid of the process. */
    public int pid() {
        return bytes.get(JAVA_INT_UNALIGNED, PID);
    }

    /** Number of the event whose hit it belongs to. */
    public int event() {
        return bytes.get(JAVA_INT_UNALIGNED, EVENT);
    }

    /** Kernel pid of the thread. */
    public int tid() {
        return bytes.get(JAVA_INT_UNALIGNED, TID);
    }

    /** Copies the addresses; returns how many there are, as far as they fit. */
    public int copy(long[] frames) {
        long stated = bytes.get(JAVA_LONG_UNALIGNED, COUNT);
        int count =
                (int)
                        Math.clamp(
                                stated,
                                0,
                                Math.min(frames.length, (bytes.byteSize() - HEAD_BYTES) / 8));
        MemorySegment.copy(bytes, JAVA_LONG_UNALIGNED, HEAD_BYTES, frames, 0, count);
        return count;
    }

    /** Why there are no more frames. */
    public UserStackEnd end() {
        long end = bytes.get(JAVA_LONG_UNALIGNED, END);
        return end >= 0 && end < ENDS.length ? ENDS[(int) end] : UserStackEnd.BAD_RULE;
    }

    /** Frames found by the frame pointer because their code has no row. */
    public long guessed() {
        return bytes.get(JAVA_LONG_UNALIGNED, GUESSED);
    }
}
