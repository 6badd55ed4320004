package sonde.sys;

import java.lang.foreign.MemorySegment;

/** perf_event_open(2). */
public final class PerfEventOpen {
    public static final int PERF_FLAG_FD_NO_GROUP = 1;
    public static final int PERF_FLAG_FD_OUTPUT = 2;
    public static final int PERF_FLAG_PID_CGROUP = 4;
    public static final int PERF_FLAG_FD_CLOEXEC = 8;

    private static final int PERF_EVENT_OPEN = SyscallNames.number("perf_event_open");

    private PerfEventOpen() {}

    /**
     * Opens an event; PERF_FLAG_FD_CLOEXEC is added.
     *
     * @param attr struct perf_event_attr with its own size at offset 4; the segment must be at
     *     least that long, or the kernel reads beyond it
     * @param pid a process, 0 for the calling thread, -1 for all
     * @param cpu a CPU, or -1 for all (not together with pid -1)
     * @param group the group leader's descriptor, or -1
     * @param event the event's name for the message of a failure
     */
    public static int open(MemorySegment attr, int pid, int cpu, int group, int flags, String event)
            throws SyscallException {
        long result = tryOpen(attr, pid, cpu, group, flags);
        if (result < 0) {
            String object = event + ", pid " + pid + ", cpu " + cpu;
            throw new SyscallException("perf_event_open", object, (int) -result);
        }
        return (int) result;
    }

    /** {@link #open} that returns {@code -errno}, for probing what a kernel allows. */
    public static long tryOpen(MemorySegment attr, int pid, int cpu, int group, int flags) {
        return NativeSyscall.syscall(
                PERF_EVENT_OPEN, attr.address(), pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC, 0);
    }
}
