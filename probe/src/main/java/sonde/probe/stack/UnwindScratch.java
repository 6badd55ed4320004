package sonde.probe.stack;

/**
 * The memory in which a program unwinds, one value of a per-CPU array: bytes from its start. R6 has
 * its address in every subprogram.
 */
final class UnwindScratch {
    /** Registers by DWARF's number, 8 bytes each. */
    static final int REGISTERS = 0;

    static final int IP = 128;

    /** Whether IP is the instruction itself and not a return address. */
    static final int EXACT = 136;

    /** Whether all registers are those of the frame. */
    static final int LEAF = 144;

    static final int ROOT = 152;
    static final int VDSO = 160;
    static final int COUNT = 168;

    /** Ordinal of {@link UserStackEnd}. */
    static final int END = 176;

    /** Frames that were found by rbp for want of a row. */
    static final int GUESSED = 184;

    /** Not 0 when the file of CURRENT has no table yet. */
    static final int PENDING = 192;

    static final int PC = 200;

    /** The mapping of PC: start, end, bias (file offset = pc + bias), pieces of its file. */
    static final int CURRENT = 208;

    /** Offset of the set of known mappings that belongs to the task's memory, from SETS. */
    static final int SET = 240;

    /** cs of the registers; 0x23 in a 32-bit program (__USER32_CS). */
    static final int CS = 248;

    static final int MAPPING_BYTES = 32;

    /** When the second began in which copies are counted, and how many bytes there were. */
    static final int COPY_SECOND = CS + 8;

    static final int COPIES = COPY_SECOND + 8;

    /** Where functions with a uretprobe return to; 0 when the process has none. */
    static final int TRAMPOLINE = COPIES + 8;

    /** The next struct return_instance outwards. */
    static final int INSTANCE = TRAMPOLINE + 8;

    /** 1 while a run has the memory, where runs can interrupt each other. */
    static final int TAKEN = INSTANCE + 8;

    /** What the perf event had counted at the last hit. */
    static final int HITS = TAKEN + 8;

    /** Number of the system call that the task is in, as orig_ax has it; -1 in user mode. */
    static final int CALL = HITS + 8;

    static final int KEY = CALL + 8;

    // A set: struct mm_struct, its count of changes, its tree; next place; mappings.
    static final int SET_MM = 0;
    static final int SET_SEQUENCE = 8;
    static final int SET_ROOT = 16;
    static final int VICTIM = 24;
    static final int CACHE = 32;
    static final int CACHED = 8;
    static final int SET_BITS = 9;
    static final int SETS_MASK = 3 << SET_BITS;

    /**
     * What is reported of a file without a table: the key, then tgid and the mapping's start, end.
     */
    static final int REPORT = KEY;

    static final int REPORT_TGID = KEY + UnwindTables.KEY_BYTES;
    static final int REPORT_START = REPORT_TGID + 8;
    static final int WORD = REPORT + UnwindTables.REPORT_BYTES;
    static final int PIECES = WORD + 8;
    static final int NODE = PIECES + 8;
    static final int NODE_BYTES = 256;
    static final int AREA = NODE + NODE_BYTES;
    static final int AREA_BYTES = 256;
    static final int SIGNAL = AREA + AREA_BYTES;
    static final int SIGNAL_BYTES = 56;

    /** Room before the frames for the head of a record. */
    static final int HEAD = SIGNAL + SIGNAL_BYTES;

    static final int HEAD_BYTES = 48;
    static final int FRAMES = HEAD + HEAD_BYTES;
    static final int MOST_FRAMES = 255;
    static final int SETS = FRAMES + 8 * (MOST_FRAMES + 1);

    /** Struct mm_struct of the task. */
    static final int MM = SETS + (4 << SET_BITS) + RuntimeScratch.BYTES;

    /** The JVM that JAVA_VM describes: struct mm_struct and tgid. */
    static final int JAVA_KNOWN = MM + 8;

    static final int JAVA_KEY = JAVA_KNOWN + JvmTable.KEY_BYTES;
    static final int JAVA_VM = JAVA_KEY + JvmTable.KEY_BYTES;

    /** The head of a blob of code, as much as is read of it, and room for any offset. */
    static final int JAVA_BLOB = JAVA_VM + JvmTable.VALUE_BYTES;

    static final int JAVA_BLOB_BYTES = 320;
    static final int JAVA_BLOB_MASK = 511;

    /** Bytes around the innermost instruction. */
    static final int JAVA_CODE = JAVA_BLOB + JAVA_BLOB_MASK + 9;

    /** What is told of an object or a process; {@link JvmTable#REPORT_BYTES}. */
    static final int JAVA_REPORT = JAVA_CODE + 16;

    static final int JAVA_CODE_BEFORE = 8;
    static final int JAVA_CODE_BYTES = 16;
    static final int PAGE = 4096;
    static final int SCRATCH_BYTES = JAVA_REPORT + JvmTable.REPORT_BYTES;

    // DWARF's numbers.
    static final int RBX = 8 * 3;
    static final int RBP = 8 * 6;
    static final int RSP = 8 * 7;
    static final int R13 = 8 * 13;

    private UnwindScratch() {}
}
