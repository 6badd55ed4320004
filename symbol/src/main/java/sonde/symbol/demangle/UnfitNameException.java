package sonde.symbol.demangle;

/**
 * The name does not follow the scheme, or is larger than allowed. Thrown often, so without a trace.
 */
final class UnfitNameException extends RuntimeException {
    static final UnfitNameException INSTANCE = new UnfitNameException();

    private static final long serialVersionUID = 1L;

    private UnfitNameException() {
        super("not a mangled name", null, false, false);
    }
}
