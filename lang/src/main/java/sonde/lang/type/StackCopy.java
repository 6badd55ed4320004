package sonde.lang.type;

/**
 * Where things lie in a user stack that was copied: 4 bytes process, 4 bytes 0, 8 bytes how much of
 * the stack there is, struct pt_regs of x86-64 (arch/x86/include/uapi/asm/ptrace.h), and whole
 * pages of the stack, the first one with what the stack pointer points to.
 */
public final class StackCopy {
    /** How many bytes of the stack were read; {@link #NOT_WANTED}. */
    public static final int COUNT = 8;

    /** In place of a number of bytes: the process was not to be followed. */
    public static final long NOT_WANTED = -1;

    /** The registers. */
    public static final int REGISTERS = 16;

    /** Bytes of struct pt_regs. */
    public static final int REGISTERS_BYTES = 168;

    /** The stack. */
    public static final int STACK = REGISTERS + REGISTERS_BYTES;

    /** What can be read, or not, as one. */
    public static final int PAGE_BYTES = 4096;

    /** Pages that are copied: more than 12 KiB above the stack pointer. */
    public static final int PAGES = 4;

    /** The whole. */
    public static final int BYTES = STACK + PAGES * PAGE_BYTES;

    private StackCopy() {}
}
