package sonde.lang.source;

/**
 * A part of a program.
 *
 * @param from offset of its first character
 * @param to offset behind its last
 */
public record SourceSpan(SourceText source, int from, int to) {
    /** What stands there. */
    public String text() {
        return source.text().substring(from, to);
    }

    /** {@code "script.bt:3:5-9"}: line, first column, column behind the last. */
    public String place() {
        int line = source.line(from);
        int first = source.column(from);
        int end = source.line(to) == line ? source.column(to) : source.lineText(line).length() + 1;
        return source.name() + ":" + line + ":" + first + "-" + Math.max(end, first + 1);
    }

    @Override
    public String toString() {
        return place();
    }
}
