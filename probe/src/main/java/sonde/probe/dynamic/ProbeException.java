package sonde.probe.dynamic;

import java.io.IOException;

/** A probe that cannot be made as it was asked for; the message says why and what would go. */
public final class ProbeException extends IOException {
    private static final long serialVersionUID = 1;

    /** With one or more lines. */
    public ProbeException(String message) {
        super(message);
    }

    /**
     * With the text that was not understood and a caret below it.
     *
     * @param at column of the fault, from 0
     */
    static ProbeException at(String text, int at, String message) {
        int column = Math.clamp(at, 0, text.length());
        return new ProbeException(message + "\n  " + text + "\n  " + " ".repeat(column) + "^");
    }
}
