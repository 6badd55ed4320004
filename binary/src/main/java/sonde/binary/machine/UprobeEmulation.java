package sonde.binary.machine;

import java.util.HexFormat;
import java.util.Set;

/**
 * Which instructions of x86-64 the kernel emulates at a uprobe. It single-steps all others out of
 * line, which costs a second trap for each hit.
 *
 * <p>Source: {@code arch/x86/kernel/uprobes.c}, {@code branch_setup_xol_ops} and {@code
 * push_setup_xol_ops}.
 */
public final class UprobeEmulation {
    /** {@code x86_nops} of the kernel's {@code asm/nops.h}, up to 8 bytes. */
    private static final Set<String> NOPS =
            Set.of(
                    "90",
                    "6690",
                    "0f1f00",
                    "0f1f4000",
                    "0f1f440000",
                    "660f1f440000",
                    "0f1f8000000000",
                    "0f1f840000000000");

    /**
     * Opcodes that {@code branch_setup_xol_ops} and {@code arch_uprobe_analyze_insn} know: jumps on
     * a condition, calls, jumps, NOP, returns, popf. Of an instruction with a VEX or EVEX prefix
     * they compare the last byte of its opcode.
     */
    private static boolean isBranchOrReturn(int op) {
        return switch (op) {
            case 0x90, 0x9a, 0x9d, 0xc2, 0xc3, 0xca, 0xcb, 0xe8, 0xe9, 0xea, 0xeb -> true;
            default -> op >> 4 == 7;
        };
    }

    private UprobeEmulation() {}

    /**
     * Whether the kernel takes this vector instruction for a branch, NOP or return (seen in Linux
     * 6.18): with a uprobe on {@code vpbroadcastb %esi,%ymm16} it jumps, or goes on without
     * executing it, so the program computes with wrong values.
     */
    public static boolean misreads(byte[] instruction) {
        X86Encoding at = new X86Encoding(instruction, 0, instruction.length, 64);
        try {
            at.prefixes();
            at.opcode();
        } catch (IndexOutOfBoundsException | X86Decoder.InvalidEncodingException e) {
            return false;
        }
        return at.encoding != X86Forms.LEGACY && isBranchOrReturn(at.op);
    }

    /**
     * @param instruction the bytes of one instruction
     * @param longNops whether the kernel emulates NOPs of several bytes: Linux 6.16 and newer
     */
    public static boolean emulates(byte[] instruction, boolean longNops) {
        X86Encoding at = new X86Encoding(instruction, 0, instruction.length, 64);
        try {
            at.prefixes();
            if (at.alone || hasRefusedPrefix(at)) {
                return false;
            }
            at.opcode();
        } catch (IndexOutOfBoundsException | X86Decoder.InvalidEncodingException e) {
            return false;
        }
        if (at.encoding != X86Forms.LEGACY) {
            return false;
        }
        if (longNops && NOPS.contains(HexFormat.of().formatHex(instruction))) {
            return true;
        }
        if (at.map == 0 && at.op >> 3 == 0x50 >> 3) {
            boolean rexB = instruction.length == 2 && at.rex == 0x41;
            return instruction.length == 1 || rexB;
        }
        if (at.map == 0 && at.op == 0x90) {
            return true;
        }
        boolean branch =
                at.map == 0
                        ? at.op >> 4 == 7 || at.op == 0xe8 || at.op == 0xe9 || at.op == 0xeb
                        : at.map == 1 && at.op >> 4 == 8;
        return branch && at.data < 0;
    }

    /** The kernel places no uprobe on an instruction with ES, CS, SS, DS or LOCK. */
    private static boolean hasRefusedPrefix(X86Encoding at) {
        for (int i = 0; i < at.prefixCount; i++) {
            switch (at.code[i] & 0xff) {
                case 0x26, 0x2e, 0x36, 0x3e, 0xf0 -> {
                    return true;
                }
                default -> {}
            }
        }
        return false;
    }
}
