package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** clock_gettime(2). System.nanoTime() is CLOCK_MONOTONIC too, but no specification says so. */
public final class Clocks {
    public static final int CLOCK_REALTIME = 0;
    public static final int CLOCK_MONOTONIC = 1;
    public static final int CLOCK_MONOTONIC_RAW = 4;
    public static final int CLOCK_BOOTTIME = 7;

    private static final int CLOCK_GETTIME = SyscallNames.number("clock_gettime");
    private static final ThreadLocal<MemorySegment> TIMESPECS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(16, 8));

    private Clocks() {}

    /** The clock's time in nanoseconds. */
    public static long nanos(int clock) {
        MemorySegment timespec = TIMESPECS.get();
        long result = NativeSyscall.syscall(CLOCK_GETTIME, clock, timespec.address(), 0);
        if (result < 0) {
            throw new IllegalArgumentException(
                    "clock " + clock + ": " + Errno.describe((int) -result));
        }
        return timespec.get(JAVA_LONG, 0) * 1_000_000_000L + timespec.get(JAVA_LONG, 8);
    }
}
