package sonde.lang.bpftrace.lower;

import sonde.lang.source.SourceSpan;

/** Part of a script that cannot be kept in a file for other machines. */
public final class UnportableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient SourceSpan span;

    /** Which part, and why. */
    public UnportableException(SourceSpan span, String message) {
        super(message);
        this.span = span;
    }

    /** The part. */
    public SourceSpan span() {
        return span;
    }
}
