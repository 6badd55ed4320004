package sonde.recording.syscall;

/**
 * How calls are written.
 *
 * @param limit bytes of a string that are shown (-s)
 * @param verbose structs with all fields (-v)
 * @param hex strings in hexadecimal: 0 never, 1 when they have bytes that are no ASCII (-x), 2 all
 *     (-xx)
 * @param column of the equals sign (-a)
 * @param names of descriptors (-y)
 */
public record CallStyle(int limit, boolean verbose, int hex, int column, DescriptorNames names) {
    /** strace's. */
    public static final CallStyle DEFAULT = new CallStyle(32, false, 0, 40, (_, _) -> "");

    /** What descriptors stand for. */
    @FunctionalInterface
    public interface DescriptorNames {
        /** The file or socket behind a descriptor; empty when it is not known. */
        String name(int pid, int descriptor);
    }
}
