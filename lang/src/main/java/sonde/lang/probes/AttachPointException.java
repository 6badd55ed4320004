package sonde.lang.probes;

import sonde.lang.source.SourceDiagnostic;

/** An attach point cannot be read; the message says why, for the one who wrote it. */
final class AttachPointException extends Exception {
    private static final long serialVersionUID = 1;

    private final String hint;
    private final SourceDiagnostic.Front front;

    AttachPointException(String message) {
        this(message, "");
    }

    AttachPointException(String message, String hint) {
        this(message, hint, SourceDiagnostic.Front.PLACE);
    }

    AttachPointException(String message, String hint, SourceDiagnostic.Front front) {
        super(message);
        this.hint = hint;
        this.front = front;
    }

    /** What stands before the message. */
    SourceDiagnostic.Front front() {
        return front;
    }

    /** The message, never null. */
    String text() {
        return "" + getMessage();
    }

    String hint() {
        return hint;
    }
}
