package sonde.view;

/** A sentence broken at spaces where the terminal ends. */
final class TextNote {
    private static final int WIDEST = 100;

    private TextNote() {}

    static void append(StringBuilder out, String indent, String note, Style style) {
        int edge = style.width() == 0 ? Integer.MAX_VALUE : Math.min(WIDEST, style.width());
        int room = Math.max(20, edge - indent.length());
        int at = 0;
        out.append(indent);
        for (String word : Escape.line(note).split(" ")) {
            int cells = Cells.width(word);
            if (at > 0 && at + 1 + cells > room) {
                out.append('\n').append(indent).append("  ");
                at = 2;
            } else if (at > 0) {
                out.append(' ');
                at++;
            }
            out.append(word);
            at += cells;
        }
        out.append('\n');
    }
}
