package sonde.binary.machine;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import sonde.binary.elf.ElfFile;
import sonde.binary.machine.MachineOperand.MachineRegister;

/**
 * Where a uprobe for the begin of a function of x86-64 is put: at its first instruction, or at one
 * behind it that the kernel emulates ({@link UprobeEmulation}), which costs a tenth.
 *
 * <p>A later place is equivalent when each call passes it first, and the arguments, the stack
 * pointer and the return address are still those of the entry: only instructions before it that
 * write none of these, no jump on the way to it, and no jump of the function into what lies behind
 * the entry up to the place.
 *
 * @param offset from the begin of the function
 * @param emulated whether the kernel emulates the instruction there
 */
public record ProbePlacement(int offset, boolean emulated) {
    /** What a probe reads: the arguments and the stack pointer, and parts of them. */
    private static final Set<String> KEPT =
            Set.of(
                    "rdi", "edi", "di", "dil", "rsi", "esi", "si", "sil", "rdx", "edx", "dx", "dl",
                    "dh", "rcx", "ecx", "cx", "cl", "ch", "r8", "r8d", "r8w", "r8b", "r9", "r9d",
                    "r9w", "r9b", "rsp", "esp", "sp", "spl");

    /** Instructions with an operand in first place that they do not write. */
    private static final Set<String> READERS = Set.of("cmp", "test", "nop");

    /**
     * Instructions whose only written register is their first operand. What is not listed ends the
     * search: it may write a register that it does not name.
     */
    private static final Set<String> WRITERS =
            Set.of(
                    "mov", "movabs", "movzx", "movsx", "movsxd", "lea", "xor", "and", "or", "add",
                    "sub", "shl", "shr", "sar", "neg", "not", "endbr64");

    private static final int MOST_BYTES = 64;
    private static final int SEARCHED_BYTES = 1 << 16;

    private static final ProbePlacement ENTRY = new ProbePlacement(0, false);

    /**
     * @param code of the function, from its begin; at least its first instruction
     * @param longNops as {@link UprobeEmulation#emulates}
     */
    public static ProbePlacement of(byte[] code, boolean longNops) {
        MachineDecoder decoder = MachineDecoder.of(ElfFile.EM_X86_64, true).orElseThrow();
        int found = -1;
        int at = 0;
        while (at < Math.min(code.length, MOST_BYTES)) {
            MachineInstruction one = decoder.decode(code, at, code.length, at);
            if (!one.isValid()) {
                break;
            }
            byte[] bytes = Arrays.copyOfRange(code, at, at + one.length());
            if (UprobeEmulation.emulates(bytes, longNops)) {
                found = at;
                break;
            }
            if (one.flow() != MachineFlow.NEXT || !keepsArguments(one)) {
                break;
            }
            at += one.length();
        }
        if (found <= 0) {
            return found == 0 ? new ProbePlacement(0, true) : ENTRY;
        }
        return isEntered(decoder, code, found) ? ENTRY : new ProbePlacement(found, true);
    }

    private static boolean keepsArguments(MachineInstruction one) {
        String name = one.mnemonic();
        List<MachineOperand> operands = one.operands();
        if (!one.prefix().isEmpty()) {
            return false;
        }
        if (READERS.contains(name)) {
            return true;
        }
        return WRITERS.contains(name)
                && (operands.isEmpty()
                        || !(operands.getFirst() instanceof MachineRegister(String written, int _))
                        || !KEPT.contains(written));
    }

    /** Whether a jump leads to a place behind the entry up to the probe. */
    private static boolean isEntered(MachineDecoder decoder, byte[] code, int place) {
        int end = Math.min(code.length, SEARCHED_BYTES);
        for (int at = 0; at < end; ) {
            MachineInstruction one = decoder.decode(code, at, code.length, at);
            OptionalLong target = one.target();
            if (target.isPresent()
                    && target.getAsLong() > 0
                    && target.getAsLong() <= place
                    && one.flow() != MachineFlow.NEXT) {
                return true;
            }
            at += one.length();
        }
        return false;
    }
}
