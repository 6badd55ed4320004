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

    private UprobeEmulation() {}

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
