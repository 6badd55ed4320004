package sonde.lang.source;

/**
 * Something to be said of a part of a program.
 *
 * @param hint what to do, empty for nothing
 * @param front what stands before the message; without the place that stands below
 */
public record SourceDiagnostic(
        Severity severity, SourceSpan span, String message, String hint, Front front) {
    /** With its place in front. */
    public SourceDiagnostic(Severity severity, SourceSpan span, String message, String hint) {
        this(severity, span, message, hint, Front.PLACE);
    }

    /** How bad it is. */
    public enum Severity {
        /** No program can be made. */
        ERROR,
        /** It can, but perhaps not the one that was meant. */
        WARNING
    }

    /** What stands before a message on its first line. */
    public enum Front {
        /** The place and how bad it is. */
        PLACE,
        /** How bad it is; for messages that people look for as they stand. */
        SEVERITY,
        /** Nothing: the message begins with a place of its own. */
        NOTHING
    }

    private static final int MAX_LINE = 400;

    /**
     * As people read it, without the last newline: place and message, the line, marks below the
     * part, the hint. Control characters of the program are shown as spaces.
     */
    public String render() {
        StringBuilder out = new StringBuilder(160);
        switch (front) {
            case PLACE ->
                    out.append(span.place())
                            .append(": ")
                            .append(severity)
                            .append(": ")
                            .append(message);
            case SEVERITY ->
                    out.append(severity)
                            .append(": ")
                            .append(message)
                            .append('\n')
                            .append(span.place());
            case NOTHING -> out.append(message).append('\n').append(span.place());
        }
        int line = span.source().line(span.from());
        String text = span.source().lineText(line);
        if (!text.isBlank() && text.length() <= MAX_LINE) {
            int first = span.source().column(span.from()) - 1;
            int end = Math.min(first + Math.max(1, span.to() - span.from()), text.length());
            out.append('\n').append(visible(text)).append('\n');
            out.append(" ".repeat(first)).append("~".repeat(Math.max(1, end - first)));
        }
        if (!hint.isEmpty()) {
            out.append("\nHINT: ").append(hint);
        }
        return out.toString();
    }

    private static String visible(String line) {
        StringBuilder out = new StringBuilder(line.length());
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            out.append(Character.isISOControl(c) ? ' ' : c);
        }
        return out.toString();
    }

    @Override
    public String toString() {
        return render();
    }
}
