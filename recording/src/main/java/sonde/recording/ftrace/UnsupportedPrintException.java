package sonde.recording.ftrace;

/** A {@code print fmt} says something that only the kernel itself could evaluate. */
final class UnsupportedPrintException extends Exception {
    private static final long serialVersionUID = 1;

    UnsupportedPrintException(String what) {
        super(what);
    }
}
