package sonde.event.result;

/**
 * A frame of a call tree as shown.
 *
 * @param name function, demangled; {@code [module+0xoffset]} when unknown
 * @param module file it lies in, {@code [kernel]}, {@code [vdso]}, {@code [jit]}, or a kernel
 *     module's name in brackets; empty for threads and causes
 * @param kind decides the colour
 * @param inlined whether the compiler put its code into that of the function that calls it
 */
public record Frame(String name, String module, Kind kind, boolean inlined) {
    /** A frame of its own. */
    public Frame(String name, String module, Kind kind) {
        this(name, module, kind, false);
    }

    /** The name as a reader sees it: an inlined call says so. */
    public String shown() {
        return inlined ? name + " (inlined)" : name;
    }

    /** Where code comes from. */
    public enum Kind {
        USER,
        KERNEL,
        JIT,
        /** Not code: a process, a thread, a reason for waiting, "[stack cut]". */
        LABEL,
    }

    /** A label. */
    public static Frame label(String name) {
        return new Frame(name, "", Kind.LABEL);
    }
}
