package sonde.symbol.demangle;

/** Chooses the scheme by the prefix. */
public final class Demangler {
    private Demangler() {}

    /** The name as written in the source, or the same string when it is not mangled. */
    public static String demangle(String name) {
        return name;
    }
}
