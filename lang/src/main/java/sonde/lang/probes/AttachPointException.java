package sonde.lang.probes;

/** An attach point cannot be read; the message says why, for the one who wrote it. */
final class AttachPointException extends Exception {
    private static final long serialVersionUID = 1;

    private final String hint;

    AttachPointException(String message) {
        this(message, "");
    }

    AttachPointException(String message, String hint) {
        super(message);
        this.hint = hint;
    }

    /** The message, never null. */
    String text() {
        return "" + getMessage();
    }

    String hint() {
        return hint;
    }
}
