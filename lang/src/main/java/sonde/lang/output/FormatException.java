package sonde.lang.output;

/** A format string that cannot be rendered. */
public final class FormatException extends Exception {
    private static final long serialVersionUID = 1;

    private final int offset;

    /** With the place in the format, in characters. */
    public FormatException(String message, int offset) {
        super(message);
        this.offset = offset;
    }

    /** Offset in the format of the conversion that is wrong. */
    public int offset() {
        return offset;
    }
}
