package sonde.lang.output;

import java.time.ZoneId;
import java.util.List;
import sonde.lang.type.ValueType;

/**
 * What the machine calls the numbers of a value. Answers may hold any character: those that steer a
 * terminal are made harmless where they are written.
 */
public interface ValueNames {
    /** {@code "vfs_read"}; an address without a symbol in hexadecimal, {@code "0xffff…"}. */
    String kernelSymbol(long address);

    /** As {@link #kernelSymbol} for an address of a process. */
    String userSymbol(long address, int pid);

    /**
     * A line for each frame, and one more for each function that was inlined there, without
     * indentation and line end: {@code "vfs_read+12"}, in mode PERF with the address in front,
     * {@code "ffffffff81000000 vfs_read+12"}. Modes RAW and BUILD_ID never come here.
     *
     * @param addresses innermost first, those that are there
     */
    List<String> kernelStack(long[] addresses, ValueType.StackMode mode);

    /** The addresses of a stack of the kernel that are shown, innermost first. */
    default long[] kernelPart(long[] addresses) {
        return addresses;
    }

    /** As {@link #kernelStack} for a process. */
    List<String> userStack(long[] addresses, int pid, ValueType.StackMode mode);

    /**
     * The addresses of a stack that was copied, innermost first.
     *
     * @param bytes hold it as {@link sonde.lang.type.StackCopy} says
     * @param frames at most
     */
    long[] unwind(byte[] bytes, int at, int frames);

    /**
     * {@code "unified:/system.slice"}, several with commas between.
     *
     * @param pattern number of the pattern that the script gave
     */
    String cgroupPath(long pattern, long id);

    /** Name of a user; empty for none. */
    String userName(long uid);

    /**
     * The text of strftime.
     *
     * @param format number of the format that the script gave
     * @param clock number of the clock that nanos belongs to
     */
    String timestamp(int format, int clock, long nanos);

    /**
     * A moment with its date and time zone, by ISO 8601.
     *
     * @param clock number of the clock that nanos belongs to
     */
    String moment(int clock, long nanos);

    /** What stands behind a text that was cut because it was longer than its place. */
    default String truncated() {
        return "..";
    }

    /** Where the clock times of time series are of. */
    default ZoneId zone() {
        return ZoneId.systemDefault();
    }
}
