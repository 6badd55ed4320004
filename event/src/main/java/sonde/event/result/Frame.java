package sonde.event.result;

/**
 * A frame of a call tree as shown.
 *
 * @param name function, demangled; {@code [module+0xoffset]} when unknown
 * @param module file it lies in, {@code [kernel]}, {@code [vdso]}, {@code [jit]}, or a kernel
 *     module's name in brackets; empty for threads and causes
 * @param kind decides the colour
 * @param inlined whether the compiler put its code into that of the function that calls it
 * @param file source file, as the compiler wrote it; empty when not known or not asked for
 * @param line in it, from 1; 0 when not known
 */
public record Frame(String name, String module, Kind kind, boolean inlined, String file, int line) {
    /** A function as a whole, in code of its own. */
    public Frame(String name, String module, Kind kind) {
        this(name, module, kind, false, "", 0);
    }

    /** The same function at a line. */
    public Frame at(String source, int number) {
        return new Frame(name, module, kind, inlined, source, number);
    }

    /** The name as a reader sees it: with its line, and an inlined call says so. */
    public String shown() {
        String place = place();
        return name + (place.isEmpty() ? "" : " " + place) + (inlined ? " (inlined)" : "");
    }

    /** {@code file.c:14}, without folders; empty when the file is not known. */
    public String place() {
        String last = file.substring(file.lastIndexOf('/') + 1);
        return line > 0 && !last.isEmpty() ? last + ":" + line : last;
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
