package sonde.lang.ir;

import org.jspecify.annotations.Nullable;
import sonde.lang.source.SourceSpan;

/** A program that no eBPF can be made of: its frames or its length are beyond what kernels take. */
public final class CompilationException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient @Nullable SourceSpan span;

    /**
     * A reason.
     *
     * @param span the part of the program that asks for it; null for all of it
     */
    public CompilationException(@Nullable SourceSpan span, String message) {
        super(message);
        this.span = span;
    }

    /** The part of the program that asks for it; null for all of it. */
    public @Nullable SourceSpan span() {
        return span;
    }
}
