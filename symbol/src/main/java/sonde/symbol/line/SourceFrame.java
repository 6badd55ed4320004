package sonde.symbol.line;

/**
 * A function that an address is in, with the place it is at: of the innermost one that of the
 * address, of those around it that of the call which was inlined.
 *
 * @param function as the program is linked, not demangled; empty when not known
 * @param file whole path, as the compiler wrote it; empty when not known
 * @param line from 1; 0 when not known
 * @param column from 1; 0 when not known
 * @param inlined whether its code stands in the next frame's function
 */
public record SourceFrame(String function, String file, int line, int column, boolean inlined) {
    /** Nothing is known. */
    public static final SourceFrame UNKNOWN = new SourceFrame("", "", 0, 0, false);

    /** Whether a file is known. */
    public boolean hasPlace() {
        return !file.isEmpty();
    }

    /** Whether nothing is known. */
    public boolean isUnknown() {
        return function.isEmpty() && file.isEmpty() && line == 0;
    }

    SourceFrame withFunction(String name) {
        return new SourceFrame(name, file, line, column, inlined);
    }
}
