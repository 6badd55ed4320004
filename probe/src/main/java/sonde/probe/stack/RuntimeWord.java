package sonde.probe.stack;

/**
 * A frame of a run time among the addresses of a user stack: bit 62 is set and bit 63 is not, which
 * no address of x86-64 has. Bits 60 and 61 are its kind, bits 16 to 59 tell the object that has the
 * code, and bits 0 to 15 the position in the code.
 */
final class RuntimeWord {
    /**
     * A CodeBlob of HotSpot (its address divided by 8) and the offset of an instruction from its
     * beginning.
     */
    static final int COMPILED_JAVA = 0;

    /** A code object of CPython and the index of a code unit of 2 bytes. */
    /**
     * A code object of CPython and the index of a code unit of 2 bytes. The object's number is a
     * hash of its address and of what it points to.
     */
    static final int PYTHON = 1;

    /** A Method of HotSpot (its address divided by 8) and the index of a bytecode. */
    static final int JAVA = 2;

    /** A SharedFunctionInfo of V8 (its address divided by 8) and the offset of a bytecode. */
    static final int JAVASCRIPT = 3;

    static final int POSITION_BITS = 16;

    /** The position is not known, or does not fit. */
    static final int NO_POSITION = 0xffff;

    static final int MOST_POSITION = NO_POSITION - 1;

    private static final int MARK_SHIFT = 62;
    private static final int KIND_SHIFT = 60;
    static final int OBJECT_BITS = KIND_SHIFT - POSITION_BITS;
    private static final long OBJECT_MASK = (1L << OBJECT_BITS) - 1;

    private RuntimeWord() {}

    static long of(int kind, long object, int position) {
        return 1L << MARK_SHIFT
                | (long) kind << KIND_SHIFT
                | (object & OBJECT_MASK) << POSITION_BITS
                | position;
    }

    /** Whether a word of a stack is one, and no address. */
    static boolean is(long word) {
        return word >>> MARK_SHIFT == 1;
    }

    static int kind(long word) {
        return (int) (word >>> KIND_SHIFT) & 3;
    }

    /** The object's number. */
    static long object(long word) {
        return word >>> POSITION_BITS & OBJECT_MASK;
    }

    static int position(long word) {
        return (int) word & NO_POSITION;
    }
}
