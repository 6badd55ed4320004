package sonde.tools.script;

/** A command line that a tool does not take; the message says which word, and what to write. */
public final class ToolUseException extends Exception {
    private static final long serialVersionUID = 1;

    ToolUseException(String message) {
        super(message);
    }
}
