package sonde.lang.bpftrace.run;

import java.util.function.Supplier;

/** Sees what each pass of the compiler makes, those before one that fails too. */
@FunctionalInterface
public interface PassListener {
    /** For who does not look. */
    PassListener NONE = (pass, text) -> {};

    /**
     * A pass has ended.
     *
     * @param text what it made; made when it is asked for
     */
    void made(CompilerPass pass, Supplier<String> text);
}
