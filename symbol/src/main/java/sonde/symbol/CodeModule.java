package sonde.symbol;

/**
 * Something that holds code, known to {@link ProcessMaps} by a number.
 *
 * @param index its number
 * @param kind what it is
 * @param pid the process in which it was seen first
 * @param base of {@code ANONYMOUS} and {@code UNMAPPED}: what to add to an offset to get the
 *     address as running; of {@code KERNEL_SYMBOL}: its start; else 0
 * @param timeNanos when it was seen first
 * @param mapping as seen first
 */
public record CodeModule(
        int index, Kind kind, int pid, long base, long timeNanos, CodeMapping mapping) {
    /** What holds code. */
    public enum Kind {
        /** A file; offsets are offsets in the file. */
        FILE,
        /** The kernel's page of user code; offsets are those in its ELF image. */
        VDSO,
        /** Memory without a file: code that a JIT compiler wrote. */
        ANONYMOUS,
        /** No mapping is known to hold the address. */
        UNMAPPED,
        /** A function of the kernel that came while recording: BPF program, trampoline. */
        KERNEL_SYMBOL,
        /** Frames of run times ({@link RuntimeFrames}), in all processes; offsets are addresses. */
        RUN_TIME,
    }

    /** Last part of the path: what a reader calls the module. */
    public String shortName() {
        String path = mapping.path();
        return path.startsWith("/") ? path.substring(path.lastIndexOf('/') + 1) : path;
    }
}
