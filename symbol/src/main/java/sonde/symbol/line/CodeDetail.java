package sonde.symbol.line;

/**
 * What is wanted of code besides its functions.
 *
 * @param inlines whether inlined calls are wanted
 * @param lines whether source lines are wanted
 * @param mostBytes of a program's debugging information that is read for it; larger files have
 *     places only where the cache has their tables
 * @param mostKernelBytes the same of the kernel and its modules
 */
public record CodeDetail(boolean inlines, boolean lines, long mostBytes, long mostKernelBytes) {
    /** Larger debugging information takes too long where nobody asked for lines. */
    public static final long QUICK_BYTES = 64L << 20;

    /** Functions alone. */
    public static final CodeDetail NONE = new CodeDetail(false, false, 0, 0);

    /** The same detail for files of every size. */
    public CodeDetail(boolean inlines, boolean lines) {
        this(inlines, lines, Long.MAX_VALUE, Long.MAX_VALUE);
    }

    /** This detail only for files that are read in a moment. */
    public static CodeDetail quick(boolean inlines, boolean lines) {
        return new CodeDetail(inlines, lines, QUICK_BYTES, QUICK_BYTES);
    }

    /** Whether more than functions is wanted. */
    public boolean isWanted() {
        return inlines || lines;
    }
}
