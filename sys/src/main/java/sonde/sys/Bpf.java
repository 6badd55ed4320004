package sonde.sys;

import java.lang.foreign.MemorySegment;

/** bpf(2). */
public final class Bpf {
    private static final int BPF = SyscallNames.number("bpf");

    private Bpf() {}

    /**
     * Calls bpf with all of the segment as {@code union bpf_attr}; a tail unknown to the kernel
     * must be zero (else E2BIG). EAGAIN of BPF_PROG_LOAD is the caller's to retry.
     *
     * @param object what it is about, for the message of a failure
     */
    public static long call(int command, MemorySegment attr, String object)
            throws SyscallException {
        return SyscallResults.check("bpf", object, tryCall(command, attr));
    }

    /** {@link #call} that returns {@code -errno}. */
    public static long tryCall(int command, MemorySegment attr) {
        return NativeSyscall.syscall(BPF, command, attr.address(), attr.byteSize());
    }
}
