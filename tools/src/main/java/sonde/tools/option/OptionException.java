package sonde.tools.option;

/** A command line that a command does not take; the message says which word, and what to write. */
public final class OptionException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final String spelling;

    public OptionException(String message) {
        this(message, "");
    }

    /** A wrong word behind an option, or an option that there is not. */
    OptionException(String message, String spelling) {
        super(message);
        this.spelling = spelling;
    }

    /** A wrong word, as something that reads it says. */
    public OptionException(String message, Throwable cause) {
        super(message, cause);
        this.spelling = "";
    }

    /** The option in question as it was written, with its dashes; empty for none. */
    public String spelling() {
        return spelling;
    }
}
