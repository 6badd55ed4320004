package sonde.view;

/** A sentence of a report. */
final class TextNote {
    private TextNote() {}

    static void append(StringBuilder out, String indent, String note, TerminalStyle style) {
        out.append(WrappedText.of(indent, indent + "  ", note, style.width()));
    }
}
