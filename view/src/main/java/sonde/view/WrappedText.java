package sonde.view;

/** A sentence broken at spaces where the terminal ends. */
public final class WrappedText {
    /** Longer lines are hard to read, however wide the terminal is. */
    private static final int WIDEST = 100;

    private static final int NARROWEST = 20;

    private WrappedText() {}

    /**
     * The sentence as lines, each ended; what would move the cursor is {@link TextEscape escaped}.
     *
     * @param first what the first line begins with
     * @param indent what all other lines begin with
     * @param width columns of the terminal; 0 does not break
     */
    public static String of(String first, String indent, String sentence, int width) {
        int edge = width == 0 ? Integer.MAX_VALUE : Math.min(WIDEST, width);
        int room = Math.max(NARROWEST, edge);
        StringBuilder out = new StringBuilder(first);
        int at = CellWidths.width(first);
        boolean begun = false;
        for (String word : TextEscape.line(sentence).split(" ", -1)) {
            int cells = CellWidths.width(word);
            if (begun && at + 1 + cells > room) {
                out.append('\n').append(indent);
                at = CellWidths.width(indent);
            } else if (begun) {
                out.append(' ');
                at++;
            }
            out.append(word);
            at += cells;
            begun = true;
        }
        return out.append('\n').toString();
    }
}
