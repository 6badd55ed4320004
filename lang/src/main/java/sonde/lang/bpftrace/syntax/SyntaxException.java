package sonde.lang.bpftrace.syntax;

/** The parser gives a statement or item up, having said why. */
final class SyntaxException extends Exception {
    private static final long serialVersionUID = 1;

    SyntaxException() {
        super(null, null, false, false);
    }
}
