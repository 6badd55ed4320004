package sonde.view;

/**
 * What the terminal can show.
 *
 * @param width columns, 0 when there is no edge (a pipe or a file)
 * @param colour whether SGR sequences of ECMA-48 may be written
 * @param unicode whether characters outside ASCII may be drawn (lines, bars, µ)
 */
public record TerminalStyle(int width, boolean colour, boolean unicode) {
    /** For a pipe or a file: no edge, no colour. */
    public static final TerminalStyle PLAIN = new TerminalStyle(0, false, true);

    public TerminalStyle {
        if (width < 0) {
            throw new IllegalArgumentException("width " + width);
        }
    }

    String bold(String text) {
        return sgr("1", text);
    }

    String dim(String text) {
        return sgr("2", text);
    }

    String sgr(String code, String text) {
        return colour ? "\033[" + code + "m" + text + "\033[0m" : text;
    }
}
