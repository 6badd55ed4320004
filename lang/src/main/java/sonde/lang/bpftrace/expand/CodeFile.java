package sonde.lang.bpftrace.expand;

import org.jspecify.annotations.Nullable;
import sonde.lang.source.SourceSpan;

/**
 * Functions in C that a script imports.
 *
 * @param span of the import
 * @param name the path of the file, of the library's the path below it
 * @param text of the library's; null for a file
 */
public record CodeFile(SourceSpan span, String name, @Nullable String text) {
    /** What names of objects end with. */
    static final String OBJECT = ".bpf.o";

    private static final String SOURCE = ".bpf.c";

    /** Whether it is to be compiled. */
    public boolean isSource() {
        return name.endsWith(SOURCE);
    }

    /** Whether a file of this name is one. */
    static boolean isCode(String name) {
        return name.endsWith(SOURCE) || name.endsWith(OBJECT);
    }
}
