package sonde.probe.names;

import sonde.sys.Arch;

/**
 * Where struct pt_regs keeps a system call's arguments while the call runs and when it ends.
 *
 * <p>x86-64: arch/x86/include/asm/ptrace.h (order of struct pt_regs), arguments in rdi, rsi, rdx,
 * r10, r8, r9. arm64: arch/arm64/include/asm/ptrace.h, x0 to x5; x0 is overwritten with the result,
 * orig_x0 behind struct user_pt_regs keeps the argument.
 */
final class SyscallRegisters {
    private static final int[] X86_64 = {112, 104, 96, 56, 72, 64};
    private static final int[] AARCH64 = {272, 8, 16, 24, 32, 40};

    private SyscallRegisters() {}

    /** Bytes from the start of struct pt_regs to an argument, 0 to 5. */
    static int offset(Arch arch, int argument) {
        return switch (arch) {
            case X86_64 -> X86_64[argument];
            case AARCH64 -> AARCH64[argument];
        };
    }
}
