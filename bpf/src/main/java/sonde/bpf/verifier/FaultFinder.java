package sonde.bpf.verifier;

import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.Instruction.UnknownInstruction;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.verifier.RefusalKind.MessageMatch;

/** Finds the instruction that a message means which came before the verifier walked any. */
final class FaultFinder {
    private FaultFinder() {}

    private interface Fits {
        boolean test(Instruction instruction, int next);
    }

    /** Its slot; -1 when it is about none; empty when the log's last instruction is the one. */
    static OptionalInt of(
            MessageMatch match, @Nullable ProgramCode code, InstructionListing listing) {
        int said = match.number("insn");
        if (said >= 0) {
            return OptionalInt.of(said);
        }
        return switch (match.cause().place()) {
            case LOG -> OptionalInt.empty();
            case NOWHERE -> OptionalInt.of(-1);
            case LAST -> OptionalInt.of(listing.last());
            case OPCODE -> opcode(match, code, listing);
            case MAP -> {
                int fd = match.number("fd");
                yield first(
                        code,
                        (one, next) ->
                                one instanceof Instruction.LoadWide wide
                                        && wide.meaning() != ConstantMeaning.NUMBER
                                        && (fd < 0 || (int) wide.value() == fd));
            }
            case UNKNOWN -> first(code, (one, next) -> one instanceof UnknownInstruction);
            case KERNEL_CALL -> {
                int id = match.number("id");
                yield first(
                        code,
                        (one, next) ->
                                one instanceof Instruction.CallKernel call
                                        && (id < 0 || call.btfId() == id));
            }
            case LOCAL_CALL -> {
                int end = code == null ? 0 : code.words().length;
                yield first(
                        code,
                        (one, next) ->
                                one instanceof Instruction.CallLocal call
                                        && (next + call.offset() < 0
                                                || next + call.offset() >= end));
            }
            case FUNCTION ->
                    first(
                            code,
                            (one, next) ->
                                    one instanceof Instruction.LoadWide wide
                                            && wide.meaning() == ConstantMeaning.FUNCTION);
            case JUMP -> {
                int to = match.number("to");
                yield first(code, (one, next) -> target(one, next) == to + 1);
            }
        };
    }

    private static OptionalInt opcode(
            MessageMatch match, @Nullable ProgramCode code, InstructionListing listing) {
        String digits = match.group("opcode");
        return code == null || digits == null
                ? OptionalInt.empty()
                : OptionalInt.of(listing.withOpcode(code, Integer.parseInt(digits, 16)));
    }

    private static int target(Instruction instruction, int next) {
        return switch (instruction) {
            case Instruction.Branch branch -> next + branch.offset();
            case Instruction.Goto jump -> next + jump.offset();
            case Instruction.GotoLong jump -> next + jump.offset();
            case Instruction.MayGoto jump -> next + jump.offset();
            default -> -1;
        };
    }

    /** The first that fits; empty when none does, so that the log's last is taken. */
    private static OptionalInt first(@Nullable ProgramCode code, Fits fits) {
        int slot = 0;
        for (Instruction one : code == null ? List.<Instruction>of() : code.instructions()) {
            int next = slot + one.slots();
            if (fits.test(one, next)) {
                return OptionalInt.of(slot);
            }
            slot = next;
        }
        return OptionalInt.empty();
    }
}
