package sonde.bpf.verifier;

/**
 * A line of the source a program was made from.
 *
 * @param file as the compiler wrote it; empty when unknown
 * @param line from 1; 0 when unknown
 * @param column from 1; 0 when unknown
 * @param text the line itself, without the blanks before it
 */
public record SourceLine(String file, int line, int column, String text) {
    /** {@code "count.bpf.c:12"}; empty when neither is known. */
    public String place() {
        if (line == 0) {
            return file;
        }
        return (file.isEmpty() ? "line " : file + ":") + line;
    }
}
