package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * ptrace(2), for one thread: the kernel takes requests only from the thread that seized a tracee,
 * and only that thread is to wait for it.
 */
public final class Ptrace implements AutoCloseable {
    public static final int POKEUSER = 6;
    public static final int DETACH = 17;

    /** Goes on to the next begin or end of a call. */
    public static final int SYSCALL = 24;

    public static final int GETEVENTMSG = 0x4201;
    public static final int GETSIGINFO = 0x4202;
    public static final int SEIZE = 0x4206;
    public static final int INTERRUPT = 0x4207;
    public static final int LISTEN = 0x4208;
    public static final int GET_SYSCALL_INFO = 0x420e;

    public static final int O_TRACESYSGOOD = 1;
    public static final int O_TRACEFORK = 2;
    public static final int O_TRACEVFORK = 4;
    public static final int O_TRACECLONE = 8;
    public static final int O_TRACEEXEC = 0x10;

    public static final int EVENT_EXEC = 4;
    public static final int EVENT_STOP = 128;

    private static final int PTRACE = SyscallNames.number("ptrace");
    private static final int TGKILL = SyscallNames.number("tgkill");
    private static final int WAIT4 = SyscallNames.number("wait4");
    private static final int READV = SyscallNames.number("process_vm_readv");
    private static final int WRITEV = SyscallNames.number("process_vm_writev");
    private static final int WNOTHREAD = 0x20000000;
    private static final int SCRATCH = 1 << 16;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment status = arena.allocate(8, 8);
    private final MemorySegment vectors = arena.allocate(32, 8);
    private final MemorySegment scratch = arena.allocate(SCRATCH, 8);

    /** Of the thread that makes it and calls it. */
    public Ptrace() {}

    /** What a request wrote, and what was read of a tracee. */
    public MemorySegment scratch() {
        return scratch;
    }

    /** A request; {@code -errno} when it failed, mostly because the tracee is gone. */
    public long request(int request, int tid, long address, long data) {
        return NativeSyscall.syscall(PTRACE, request, tid, address, data, 0, 0);
    }

    /** A request whose answer goes to {@link #scratch}. */
    public long ask(int request, int tid, int bytes) {
        return request(request, tid, bytes, scratch.address());
    }

    /**
     * Waits for a tracee of this thread.
     *
     * @return its number; {@code -ECHILD} when there is none
     */
    public int await() {
        long result;
        do {
            int options = ProcessCalls.WALL | WNOTHREAD;
            result = NativeSyscall.syscall(WAIT4, -1, status.address(), options, 0, 0, 0);
        } while (result == -Errno.EINTR);
        return (int) result;
    }

    /** Sends a signal to one thread of a process. */
    public static boolean signal(int pid, int tid, int signal) {
        return NativeSyscall.syscall(TGKILL, pid, tid, signal) == 0;
    }

    /** The status word of the last {@link #await}. */
    public int status() {
        return status.get(JAVA_INT, 0);
    }

    /** Reads a tracee's memory to an offset of {@link #scratch}; how many bytes were readable. */
    public int read(int tid, long address, int bytes, int to) {
        return transfer(READV, tid, address, bytes, to);
    }

    /** Writes what is at an offset of {@link #scratch} to a tracee's memory. */
    public int write(int tid, long address, int bytes, int from) {
        return transfer(WRITEV, tid, address, bytes, from);
    }

    private int transfer(int call, int tid, long address, int bytes, int at) {
        int length = Math.min(bytes, SCRATCH - at);
        vectors.set(JAVA_LONG, 0, scratch.address() + at);
        vectors.set(JAVA_LONG, 8, length);
        vectors.set(JAVA_LONG, 16, address);
        vectors.set(JAVA_LONG, 24, length);
        long local = vectors.address();
        return (int) Math.max(0, NativeSyscall.syscall(call, tid, local, 1, local + 16, 1, 0));
    }

    @Override
    public void close() {
        arena.close();
    }
}
