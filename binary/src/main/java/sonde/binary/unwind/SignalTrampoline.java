package sonde.binary.unwind;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The code to which handlers of signals return, where it has no call frame information: it is known
 * by its instructions, and the frame by the kernel's layout of struct rt_sigframe.
 */
public final class SignalTrampoline {
    // mov $15, %rax; syscall: rt_sigreturn, in both encodings of the first
    private static final byte[] X86_64_LONG = {0x48, (byte) 0xc7, (byte) 0xc0, 15, 0, 0, 0, 15, 5};
    private static final byte[] X86_64_SHORT = {(byte) 0xb8, 15, 0, 0, 0, 15, 5};

    // mov x8, #139; svc #0
    private static final byte[] AARCH64 = {
        0x68, 0x11, (byte) 0x80, (byte) 0xd2, 0x01, 0, 0, (byte) 0xd4
    };

    /** Bytes that {@link #rule} needs to see. */
    public static final int CODE_BYTES = 9;

    /** Offsets in struct ucontext of rax.. by DWARF's column (arch/x86 uapi asm/sigcontext.h). */
    private static final int[] X86_64_OFFSETS = {
        144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168
    };

    /**
     * Offset of x0 in struct rt_sigframe: siginfo 128, ucontext to mcontext 176, fault_address 8.
     */
    private static final int AARCH64_X0 = 128 + 176 + 8;

    private SignalTrampoline() {}

    /**
     * The rule of a trampoline.
     *
     * @param code the bytes at the frame's program counter
     * @return null when it is no trampoline
     */
    public static @Nullable FrameRule rule(UnwindMachine machine, byte[] code) {
        return switch (machine) {
            case X86_64 ->
                    begins(code, X86_64_LONG) || begins(code, X86_64_SHORT) ? x86(machine) : null;
            case AARCH64 -> begins(code, AARCH64) ? aarch64(machine) : null;
            case I386, ARM, RISCV64, LOONGARCH64, S390X -> null;
        };
    }

    private static boolean begins(byte[] code, byte[] with) {
        return begins(code, 0, with);
    }

    private static boolean begins(byte[] code, int at, byte[] with) {
        return code.length - at >= with.length
                && Arrays.equals(code, at, at + with.length, with, 0, with.length);
    }

    /** Whether the trampoline of x86-64 is at a place of code. */
    static boolean isAt(byte[] code, int place) {
        return begins(code, place, X86_64_LONG) || begins(code, place, X86_64_SHORT);
    }

    private static FrameRule x86(UnwindMachine machine) {
        FrameRule.Builder rule = new FrameRule.Builder(machine).cfa(machine.stackPointer(), 0);
        for (int column = 0; column < X86_64_OFFSETS.length; column++) {
            rule.rule(column, FrameRule.OFFSET, X86_64_OFFSETS[column]);
        }
        rule.signalFrame = true;
        return rule.build();
    }

    private static FrameRule aarch64(UnwindMachine machine) {
        FrameRule.Builder rule = new FrameRule.Builder(machine).cfa(machine.stackPointer(), 0);
        for (int column = 0; column < machine.columns(); column++) {
            rule.rule(column, FrameRule.OFFSET, AARCH64_X0 + 8L * column);
        }
        rule.returnColumn = machine.programCounter();
        rule.signalFrame = true;
        return rule.build();
    }
}
