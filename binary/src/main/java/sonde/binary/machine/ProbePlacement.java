package sonde.binary.machine;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import sonde.binary.elf.ElfFile;
import sonde.binary.machine.MachineOperand.MachineRegister;

/**
 * Where a uprobe for the begin of a function of x86-64 is put: at its first instruction, or at one
 * behind it that the kernel emulates ({@link UprobeEmulation}), which costs a tenth. A vector
 * instruction that the kernel misreads is never such a place.
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
                    "mov",
                    "movabs",
                    "movzx",
                    "movsx",
                    "movsxd",
                    "lea",
                    "xor",
                    "and",
                    "or",
                    "add",
                    "sub",
                    "shl",
                    "shr",
                    "sar",
                    "neg",
                    "not",
                    "endbr64",
                    "vpbroadcastb",
                    "vpbroadcastw",
                    "vpbroadcastd",
                    "vpbroadcastq",
                    "vpxor",
                    "vpxord",
                    "vpxorq",
                    "vpcmpeqb",
                    "vpcmpeqd",
                    "vpor",
                    "vmovd",
                    "vmovq",
                    "vmovdqa",
                    "vzeroupper");

    private static final int MOST_BYTES = 64;
    private static final int SEARCHED_BYTES = 1 << 16;

    /**
     * @param code of the function, from its begin; at least its first instruction
     * @param longNops as {@link UprobeEmulation#emulates}
     * @return empty when a probe anywhere near the begin would change what the function does
     */
    public static Optional<ProbePlacement> of(byte[] code, boolean longNops) {
        MachineDecoder decoder = MachineDecoder.of(ElfFile.EM_X86_64, true).orElseThrow();
        int safe = -1;
        int at = 0;
        while (at < Math.min(code.length, MOST_BYTES)) {
            MachineInstruction one = decoder.decode(code, at, code.length, at);
            if (!one.isValid()) {
                safe = at == 0 ? 0 : safe;
                break;
            }
            byte[] bytes = Arrays.copyOfRange(code, at, at + one.length());
            if (UprobeEmulation.emulates(bytes, longNops) && !isEntered(decoder, code, at)) {
                return Optional.of(new ProbePlacement(at, true));
            }
            if (safe < 0 && !UprobeEmulation.misreads(bytes)) {
                safe = at;
            }
            if (one.flow() != MachineFlow.NEXT || !keepsArguments(one)) {
                break;
            }
            at += one.length();
        }
        return safe < 0 || isEntered(decoder, code, safe)
                ? Optional.empty()
                : Optional.of(new ProbePlacement(safe, false));
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
        int end = place == 0 ? 0 : Math.min(code.length, SEARCHED_BYTES);
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
