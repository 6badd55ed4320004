package sonde.probe.plan;

/**
 * How user call chains are made.
 *
 * @param stackBytes of the stack kept with each sample of kind {@code DWARF}, else 0
 */
public record CallGraph(Kind kind, int stackBytes) {
    /** What a sample has of the user's stack. */
    public enum Kind {
        /** No call chains at all. */
        NONE,
        /** A program in the kernel unwinds by tables made of the files' .eh_frame. */
        BPF,
        /** The kernel follows frame pointers. */
        FP,
        /** Registers and a piece of stack, unwound when reading. */
        DWARF,
    }

    /** As perf's: enough for most programs, and an eighth of what a sample can hold. */
    public static final int DEFAULT_STACK_BYTES = 8192;

    /** PERF_SAMPLE_STACK_USER: below 64 KiB and a multiple of 8 (kernel/events/core.c). */
    public static final int MOST_STACK_BYTES = 65528;

    /** No call chains at all. */
    public static final CallGraph NONE = new CallGraph(Kind.NONE, 0);

    /** Unwound in the kernel. */
    public static final CallGraph BPF = new CallGraph(Kind.BPF, 0);

    /** Frame pointers. */
    public static final CallGraph FP = new CallGraph(Kind.FP, 0);

    /** The usual piece of stack. */
    public static final CallGraph DWARF = new CallGraph(Kind.DWARF, DEFAULT_STACK_BYTES);

    public CallGraph {
        boolean dwarf = kind == Kind.DWARF;
        if (dwarf != stackBytes > 0 || stackBytes % 8 != 0 || stackBytes > MOST_STACK_BYTES) {
            throw new IllegalArgumentException(kind + " with " + stackBytes + " bytes of stack");
        }
    }

    /**
     * Pieces of stack of that size, up to the next multiple of 8.
     *
     * @throws IllegalArgumentException when it is not in 8..65528
     */
    public static CallGraph dwarf(int stackBytes) {
        if (stackBytes < 8 || stackBytes > MOST_STACK_BYTES) {
            throw new IllegalArgumentException(stackBytes + " bytes of stack");
        }
        return new CallGraph(Kind.DWARF, stackBytes + 7 & ~7);
    }

    /** Whether samples have call chains. */
    public boolean hasChains() {
        return kind != Kind.NONE;
    }

    /** For {@code --plan}: what is taken, and what it costs. */
    String sentence() {
        return switch (kind) {
            case NONE -> "samples have no call chains";
            case BPF -> "user call chains unwound in the kernel, by tables of the files' .eh_frame";
            case FP -> "user call chains by frame pointers, followed by the kernel";
            case DWARF ->
                    "user call chains by registers and "
                            + stackBytes
                            + " bytes of stack with each sample, unwound when reading";
        };
    }
}
