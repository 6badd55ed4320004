package sonde.lang.bpftrace.lower;

import sonde.lang.source.Span;

/** Part of a script that cannot be kept in a file for other machines. */
public final class UnportableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Span span;

    /** Which part, and why. */
    public UnportableException(Span span, String message) {
        super(message);
        this.span = span;
    }

    /** The part. */
    public Span span() {
        return span;
    }
}
