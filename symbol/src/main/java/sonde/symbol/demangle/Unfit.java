package sonde.symbol.demangle;

/**
 * The name does not follow the scheme, or is larger than allowed. Thrown often, so without a trace.
 */
final class Unfit extends RuntimeException {
    static final Unfit INSTANCE = new Unfit();

    private static final long serialVersionUID = 1L;

    private Unfit() {
        super("not a mangled name", null, false, false);
    }
}
