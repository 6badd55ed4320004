package sonde.tools.bpf;

/** Words of a command line that do not say what is wanted; the message says what to write. */
public final class BpfUseException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BpfUseException(String message) {
        super(message);
    }

    BpfUseException(String message, Throwable cause) {
        super(message, cause);
    }
}
