package sonde.analysis.filter;

/** A filter that cannot be understood. The message has the text and a caret below the place. */
public final class FilterException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final int position;

    /**
     * A filter with an error.
     *
     * @param text the whole filter
     * @param position index of the character that is wrong
     * @param what is wrong there
     */
    public FilterException(String text, int position, String what) {
        super(what + "\n  " + text + "\n  " + " ".repeat(position) + "^");
        this.position = position;
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }

    /** Index of the character that is wrong. */
    public int position() {
        return position;
    }
}
