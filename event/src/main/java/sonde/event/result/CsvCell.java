package sonde.event.result;

/** A cell of comma-separated values (RFC 4180). */
public final class CsvCell {
    private CsvCell() {}

    /** The text, in quotes if a comma, a quote or a control character is in it. */
    public static String of(String text) {
        boolean plain = text.chars().noneMatch(c -> c == ',' || c == '"' || c < ' ');
        return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
    }
}
