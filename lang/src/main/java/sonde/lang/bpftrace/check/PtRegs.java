package sonde.lang.bpftrace.check;

import java.util.List;
import java.util.Map;

/**
 * Where registers lie in struct pt_regs (arch/x86/include/asm/ptrace.h, arch/arm64's struct
 * user_pt_regs).
 */
public final class PtRegs {
    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
    private static final List<String> X86 =
            List.of(
                    "r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10", "r9", "r8", "ax", "cx",
                    "dx", "si", "di", "orig_ax", "ip", "cs", "flags", "sp", "ss");
    private static final List<String> X86_ARGUMENTS = List.of("di", "si", "dx", "cx", "r8", "r9");
    private static final Map<String, String> X86_OTHER = Map.of("pc", "ip", "lr", "ip");

    private PtRegs() {}

    /** What registers are called. */
    static List<String> names() {
        return ARM ? List.of("r0 to r30", "sp", "pc", "pstate") : X86;
    }

    /** Bytes from the start; -1 for no register of this machine. */
    public static int offset(String name) {
        if (!ARM) {
            int index = X86.indexOf(X86_OTHER.getOrDefault(name, name));
            return index < 0 ? -1 : index * 8;
        }
        return switch (name) {
            case "sp" -> 31 * 8;
            case "pc" -> 32 * 8;
            case "pstate" -> 33 * 8;
            default ->
                    name.matches("r([0-9]|[12][0-9]|30)")
                            ? Integer.parseInt(name.substring(1)) * 8
                            : -1;
        };
    }

    /** Where an argument of a function is handed over; -1 when it lies on the stack. */
    public static int argument(int index) {
        if (ARM) {
            return index < 8 ? index * 8 : -1;
        }
        return index < X86_ARGUMENTS.size() ? offset(X86_ARGUMENTS.get(index)) : -1;
    }

    /** Where the argument behind one in a register is handed over; that one for the last. */
    public static int nextArgument(int offset) {
        for (int i = 0; argument(i + 1) >= 0; i++) {
            if (argument(i) == offset) {
                return argument(i + 1);
            }
        }
        return offset;
    }

    /** Which argument on the stack it is: its offset from the stack pointer at the entry. */
    public static int stackArgument(int index) {
        return ARM ? (index - 8) * 8 : (index - X86_ARGUMENTS.size() + 1) * 8;
    }

    /** Offset of the register with a function's result. */
    public static int result() {
        return ARM ? 0 : offset("ax");
    }

    /** Offset of the stack pointer. */
    public static int stackPointer() {
        return offset("sp");
    }

    /** Offset of the instruction pointer. */
    public static int instructionPointer() {
        return offset(ARM ? "pc" : "ip");
    }

    /**
     * Offset in struct bpf_perf_event_data that tells whether user code ran; -1 where that is not
     * known.
     */
    public static int codeSegment() {
        return ARM ? -1 : offset("cs");
    }
}
