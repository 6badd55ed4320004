package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.Optional;

/** Calls on processes and threads. A {@code pid} is a process, a {@code tid} a thread. */
public final class ProcessCalls {
    public static final int SIGHUP = 1;
    public static final int SIGINT = 2;
    public static final int SIGQUIT = 3;
    public static final int SIGTRAP = 5;
    public static final int SIGKILL = 9;
    public static final int SIGUSR1 = 10;
    public static final int SIGPIPE = 13;
    public static final int SIGTERM = 15;
    public static final int SIGCHLD = 17;
    public static final int SIGCONT = 18;
    public static final int SIGSTOP = 19;

    /** Options of wait4(2). */
    public static final int WNOHANG = 1;

    public static final int WUNTRACED = 2;
    public static final int WALL = 0x40000000;

    /** {@code which} of getpriority and setpriority. */
    public static final int PRIO_PROCESS = 0;

    /** 8192 CPUs, what CONFIG_NR_CPUS of any distribution allows. */
    private static final int MASK_BYTES = 1024;

    private static final int KILL = SyscallNames.number("kill");
    private static final int WAIT4 = SyscallNames.number("wait4");
    private static final int PRLIMIT64 = SyscallNames.number("prlimit64");
    private static final int SCHED_SETAFFINITY = SyscallNames.number("sched_setaffinity");
    private static final int SCHED_GETAFFINITY = SyscallNames.number("sched_getaffinity");
    private static final int SETPRIORITY = SyscallNames.number("setpriority");
    private static final int GETPRIORITY = SyscallNames.number("getpriority");
    private static final int PRCTL = SyscallNames.number("prctl");
    private static final int GETPID = SyscallNames.number("getpid");
    private static final int GETTID = SyscallNames.number("gettid");
    private static final int GETUID = SyscallNames.number("getuid");
    private static final int GETEUID = SyscallNames.number("geteuid");
    private static final int GETGID = SyscallNames.number("getgid");
    private static final int GETEGID = SyscallNames.number("getegid");

    private ProcessCalls() {}

    /** This process, in its own pid namespace. */
    public static int getpid() {
        return (int) NativeSyscall.syscall(GETPID, 0, 0, 0);
    }

    /** Inode of this process's pid namespace. */
    public static long pidNamespace() throws SyscallException {
        return FileCalls.stat("/proc/self/ns/pid").inode();
    }

    /**
     * When a process began, in clock ticks since boot: a later one of that pid has another value.
     *
     * @return -1 when none of that pid lives
     */
    public static long startTicks(int pid) {
        try {
            byte[] bytes = FileCalls.readAll("/proc/" + pid + "/stat", 4096);
            String stat = new String(bytes, StandardCharsets.ISO_8859_1);
            // The second field is the name in brackets and may hold anything; state is field 3.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            boolean ended = fields[0].equals("Z") || fields[0].equals("X");
            return fields.length > 19 && !ended ? Long.parseLong(fields[19]) : -1;
        } catch (SyscallException | IndexOutOfBoundsException e) {
            return -1;
        }
    }

    /** The calling thread. */
    public static int gettid() {
        return (int) NativeSyscall.syscall(GETTID, 0, 0, 0);
    }

    /** The real user. */
    public static int getuid() {
        return (int) NativeSyscall.syscall(GETUID, 0, 0, 0);
    }

    /** The effective user. */
    public static int geteuid() {
        return (int) NativeSyscall.syscall(GETEUID, 0, 0, 0);
    }

    /** The real group. */
    public static int getgid() {
        return (int) NativeSyscall.syscall(GETGID, 0, 0, 0);
    }

    /** The effective group. */
    public static int getegid() {
        return (int) NativeSyscall.syscall(GETEGID, 0, 0, 0);
    }

    /** Sends a signal; 0 only asks whether the process exists. */
    public static void kill(int pid, int signal) throws SyscallException {
        String object = "pid " + pid + ", signal " + signal;
        SyscallResults.check("kill", object, NativeSyscall.syscall(KILL, pid, signal, 0));
    }

    /**
     * Waits for a child; blocks unless WNOHANG is given, so never on a virtual thread.
     *
     * @return empty when WNOHANG is given and none has changed
     */
    public static Optional<WaitStatus> wait4(int pid, int options) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(JAVA_INT);
            MemorySegment rusage = arena.allocate(Rusage.SIZE, 8);
            long result;
            do {
                result =
                        NativeSyscall.syscall(
                                WAIT4, pid, status.address(), options, rusage.address(), 0, 0);
            } while (result == -Errno.EINTR);
            SyscallResults.check("wait4", "pid " + pid, result);
            if (result == 0) {
                return Optional.empty();
            }
            return Optional.of(
                    new WaitStatus((int) result, status.get(JAVA_INT, 0), Rusage.of(rusage)));
        }
    }

    /** A process's limit; pid 0 is this one. */
    public static ResourceLimit limit(int pid, int resource) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment old = arena.allocate(16, 8);
            long result = NativeSyscall.syscall(PRLIMIT64, pid, resource, 0, old.address(), 0, 0);
            SyscallResults.check("prlimit64", "pid " + pid + ", resource " + resource, result);
            return new ResourceLimit(old.get(JAVA_LONG, 0), old.get(JAVA_LONG, 8));
        }
    }

    /** Sets a process's limit. */
    public static void limit(int pid, int resource, ResourceLimit limit) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment next = arena.allocate(16, 8);
            next.set(JAVA_LONG, 0, limit.soft());
            next.set(JAVA_LONG, 8, limit.hard());
            long result = NativeSyscall.syscall(PRLIMIT64, pid, resource, next.address(), 0, 0, 0);
            SyscallResults.check("prlimit64", "pid " + pid + ", resource " + resource, result);
        }
    }

    /** The CPUs a thread may run on; tid 0 is the calling one. */
    public static BitSet affinity(int tid) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES, 8);
            long result = NativeSyscall.syscall(SCHED_GETAFFINITY, tid, MASK_BYTES, mask.address());
            SyscallResults.check("sched_getaffinity", "tid " + tid, result);
            return BitSet.valueOf(mask.asByteBuffer());
        }
    }

    /** Binds a thread to CPUs; tid 0 is the calling one. */
    public static void affinity(int tid, BitSet cpus) throws SyscallException {
        byte[] bits = cpus.toByteArray();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES, 8);
            int length = Math.min(bits.length, MASK_BYTES);
            MemorySegment.copy(MemorySegment.ofArray(bits), 0, mask, 0, length);
            long result = NativeSyscall.syscall(SCHED_SETAFFINITY, tid, MASK_BYTES, mask.address());
            SyscallResults.check("sched_setaffinity", "tid " + tid + ", CPUs " + cpus, result);
        }
    }

    /** The nice value of a thread, -20 to 19; 0 is the calling one. */
    public static int nice(int tid) throws SyscallException {
        // The kernel returns 20 - nice, so that no result is negative (getpriority(2), notes).
        long result = NativeSyscall.syscall(GETPRIORITY, PRIO_PROCESS, tid, 0);
        return 20 - (int) SyscallResults.check("getpriority", "tid " + tid, result);
    }

    /** Sets the nice value of a thread; 0 is the calling one. */
    public static void nice(int tid, int nice) throws SyscallException {
        long result = NativeSyscall.syscall(SETPRIORITY, PRIO_PROCESS, tid, nice);
        SyscallResults.check("setpriority", "tid " + tid + ", nice " + nice, result);
    }

    /** prctl(2); the object of a failure is the operation's number. */
    public static long prctl(int operation, long a1, long a2, long a3, long a4)
            throws SyscallException {
        long result = NativeSyscall.syscall(PRCTL, operation, a1, a2, a3, a4, 0);
        return SyscallResults.check("prctl", "operation " + operation, result);
    }
}
