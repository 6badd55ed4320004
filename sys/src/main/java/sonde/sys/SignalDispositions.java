package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Signal dispositions of this process. A set of signals is a long: bit {@code n - 1} stands for
 * signal n, as in {@code SigIgn} of /proc/PID/status.
 */
public final class SignalDispositions {
    private static final int RT_SIGACTION = SyscallNames.number("rt_sigaction");
    private static final long SIG_IGN = 1;
    private static final long SIGSET_BYTES = 8;
    // struct kernel_sigaction: handler 0, flags 8, then restorer 16 and mask 24 (x86-64) or
    // mask 16 (arm64); 32 bytes hold either.
    private static final long ACTION_BYTES = 32;

    private SignalDispositions() {}

    /** What a disposition was, to be put back. */
    public static final class Disposition {
        private final int signal;
        private final byte[] action;

        private Disposition(int signal, byte[] action) {
            this.signal = signal;
            this.action = action;
        }

        /** Puts it back. */
        public void restore() throws SyscallException {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment next = arena.allocate(ACTION_BYTES, 8);
                next.copyFrom(MemorySegment.ofArray(action));
                change(signal, next, MemorySegment.NULL);
            }
        }
    }

    /** The bit of a signal in a set. */
    public static long bit(int signal) {
        return 1L << (signal - 1);
    }

    /**
     * Ignores a signal from now on, behind the JVM's back: its own handler, if it had one, no
     * longer runs. Meant for SIGQUIT, SIGPIPE and SIGXFSZ, which the JVM can do without.
     *
     * @return what it was before
     */
    public static Disposition ignore(int signal) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment next = arena.allocate(ACTION_BYTES, 8);
            MemorySegment old = arena.allocate(ACTION_BYTES, 8);
            next.set(JAVA_LONG, 0, SIG_IGN);
            change(signal, next, old);
            return new Disposition(signal, old.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
        }
    }

    private static void change(int signal, MemorySegment next, MemorySegment old)
            throws SyscallException {
        long result =
                NativeSyscall.syscall(
                        RT_SIGACTION, signal, next.address(), old.address(), SIGSET_BYTES, 0, 0);
        SyscallResults.check("rt_sigaction", "signal " + signal, result);
    }
}
