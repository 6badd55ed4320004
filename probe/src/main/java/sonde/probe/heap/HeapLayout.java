package sonde.probe.heap;

import sonde.probe.stack.UserStackFunction;

/** What the programs and {@link HeapProbes} share: offsets in the values of the maps, in bytes. */
final class HeapLayout {
    /** u64 hash of the stack, u32 process, u32 how many programs it had executed. */
    static final int STACK_KEY_BYTES = 16;

    /** u64 address, then as in the key of a stack. */
    static final int BLOCK_KEY_BYTES = 16;

    /** u64 bytes, u64 hash of the stack, u64 time, u64 how many blocks it stands for. */
    static final int BLOCK_BYTES = 32;

    /** u64 wrong calls of free, u64 address of the last block. */
    static final int FAULT_BYTES = 16;

    /** Frames of a stack at most. */
    static final int MOST_FRAMES = 128;

    // Sums: of a process, and as far as FREES of a stack.
    static final int CALLS = 0;
    static final int BYTES = 8;
    static final int LIVE_BYTES = 16;
    static final int LIVE_BLOCKS = 24;
    static final int TEMPORARY = 32;

    /** Which peak of the process the next two belong to, at least. */
    static final int VERSION = 40;

    static final int PEAK_BYTES = 48;
    static final int PEAK_BLOCKS = 56;
    static final int SUM_BYTES = 64;

    // More of a process.
    static final int FREES = 64;
    static final int PEAK_NANOS = 72;
    static final int UNKNOWN_FREES = 80;
    static final int FAILED = 88;

    /** Blocks for which there was no room. */
    static final int LOST_BLOCKS = 96;

    /** Calls for whose stack there was no room. */
    static final int LOST_STACKS = 104;

    /** Blocks whose address was given out again, without a free that was seen. */
    static final int MISSED_FREES = 112;

    static final int IMAGE = 120;

    /**
     * 1 when all blocks of the process were seen: it was followed before it executed its program.
     */
    static final int WHOLE = 128;

    /** Blocks that were sampled, of which each stands for some. */
    static final int SAMPLES = 136;

    /** Calls by the number of bits of their size. */
    static final int SIZES = 144;

    static final int SIZE_CLASSES = 64;
    static final int PROCESS_BYTES = SIZES + 8 * SIZE_CLASSES;

    // A thread: the call that it is in, by the stack pointer at its begin; 0 for none.
    static final int IN_CALL = 0;
    static final int SIZE = 8;
    static final int KIND = 16;

    /** Where posix_memalign puts the address; the old block of a realloc. */
    static final int PLACE = 24;

    /** The block that is freed, as its value in the map; bytes are -1 for none. */
    static final int OLD = 32;

    static final int LAST = OLD + BLOCK_BYTES;
    static final int DELETED = LAST + 8;
    static final int BLOCK_KEY = DELETED + 8;
    static final int BLOCK = BLOCK_KEY + BLOCK_KEY_BYTES;
    static final int STACK_KEY = BLOCK + BLOCK_BYTES;
    static final int NO_SUMS = STACK_KEY + STACK_KEY_BYTES;
    static final int FRAMES = NO_SUMS + SUM_BYTES;
    static final int SCRATCH = FRAMES + 8 * MOST_FRAMES;
    static final int THREAD_BYTES = SCRATCH + UserStackFunction.SCRATCH_BYTES;

    private HeapLayout() {}
}
