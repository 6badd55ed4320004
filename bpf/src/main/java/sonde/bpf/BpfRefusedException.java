package sonde.bpf;

import java.io.IOException;

/**
 * bpf(2) or an attachment was refused by policy or for lack of the feature, before anything looked
 * at the program.
 */
public final class BpfRefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    /** What stands in the way. */
    public enum Barrier {
        /** The kernel has no bpf(2). */
        NO_SYSCALL,
        /** The thread lacks capabilities. */
        CAPABILITY,
        /** Kernel lockdown. */
        LOCKDOWN,
        /** RLIMIT_MEMLOCK, which counted until Linux 5.11. */
        MEMLOCK,
        /** The JIT found no room (net.core.bpf_jit_limit) or does not know an instruction. */
        JIT,
        /** A security module, seccomp or a hardened kernel. */
        POLICY,
        /** This kernel does not have it. */
        UNSUPPORTED
    }

    private final int errno;
    private final Barrier barrier;
    private final String reason;
    private final String remedy;

    /**
     * @param what was tried: {@code "program sonde_exit"}
     * @param errno what came back
     * @param reason in words
     * @param remedy what to do, empty when nothing helps
     */
    public BpfRefusedException(
            String what, int errno, Barrier barrier, String reason, String remedy) {
        super(what + ": " + reason + (remedy.isEmpty() ? "" : "; " + remedy));
        this.errno = errno;
        this.barrier = barrier;
        this.reason = reason;
        this.remedy = remedy;
    }

    /** As the other, for what the kernel does not have. */
    public BpfRefusedException(String what, int errno, String reason, String remedy) {
        this(what, errno, Barrier.UNSUPPORTED, reason, remedy);
    }

    /** The errno, positive. */
    public int errno() {
        return errno;
    }

    /** What stands in the way. */
    public Barrier barrier() {
        return barrier;
    }

    /** Why, in words. */
    public String reason() {
        return reason;
    }

    /** What to do; empty when nothing helps. */
    public String remedy() {
        return remedy;
    }
}
