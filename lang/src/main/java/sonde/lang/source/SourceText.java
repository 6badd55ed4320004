package sonde.lang.source;

import java.util.Arrays;

/**
 * The text of one file of a program.
 *
 * @param name how messages call it: a path, or "stdin" for a program given on the command line
 */
public record SourceText(String name, String text, int[] lineStarts) {
    /** A text with its lines found. */
    public SourceText(String name, String text) {
        this(name, text, lineStarts(text));
    }

    private static int[] lineStarts(String text) {
        int[] starts = new int[16];
        int lines = 1;
        for (int at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
            if (lines == starts.length) {
                starts = Arrays.copyOf(starts, 2 * lines);
            }
            starts[lines++] = at + 1;
        }
        return Arrays.copyOf(starts, lines);
    }

    /** Line of an offset, from 1. */
    public int line(int offset) {
        int found = Arrays.binarySearch(lineStarts, offset);
        return found >= 0 ? found + 1 : -found - 1;
    }

    /** Column of an offset in its line, from 1, in UTF-16 units. */
    public int column(int offset) {
        return offset - lineStarts[line(offset) - 1] + 1;
    }

    /** A line without its end, from 1. */
    public String lineText(int line) {
        int from = lineStarts[line - 1];
        int to = line < lineStarts.length ? lineStarts[line] - 1 : text.length();
        return text.substring(from, Math.max(from, to));
    }

    /** The text is long and its lines are derived: two are equal when they are the same file. */
    @Override
    public boolean equals(Object other) {
        return other instanceof SourceText that && name.equals(that.name) && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name;
    }
}
