package sonde.bpf.verifier;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.AssemblyException;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.verifier.LogEntry.LoggedStep;

/** Instructions by slot, of the program itself where it is known, else as the log prints them. */
final class InstructionListing {
    private final Map<Integer, Instruction> bySlot = new HashMap<>();
    private final int slots;

    private InstructionListing(@Nullable ProgramCode code) {
        int slot = 0;
        if (code != null) {
            for (Instruction instruction : code.instructions()) {
                bySlot.put(slot, instruction);
                slot += instruction.slots();
            }
        }
        slots = slot;
    }

    /** The listing of a program; null when only its log is there. */
    static InstructionListing of(@Nullable ProgramCode code) {
        return new InstructionListing(code);
    }

    /** The instruction of a step; null when its text is none. */
    @Nullable Instruction at(LoggedStep step) {
        Instruction known = bySlot.get(step.slot());
        if (known != null || slots > 0) {
            return known;
        }
        try {
            var parsed = Assembler.assemble(step.text()).instructions();
            return parsed.size() == 1 ? parsed.getFirst() : null;
        } catch (AssemblyException e) {
            return null;
        }
    }

    /** The instruction at a slot; null when there is none. */
    @Nullable Instruction at(int slot) {
        return bySlot.get(slot);
    }

    /** Its text; empty when there is none. */
    String text(int slot) {
        Instruction known = bySlot.get(slot);
        return known == null ? "" : Disassembler.text(known);
    }

    /** The last slot at which an instruction begins; -1 when the program is not known. */
    int last() {
        return bySlot.keySet().stream().mapToInt(Integer::intValue).max().orElse(-1);
    }

    /** The first slot with that opcode; -1 when there is none. */
    int withOpcode(ProgramCode code, int opcode) {
        long[] words = code.words();
        for (int slot = 0; slot < words.length; slot++) {
            if (bySlot.containsKey(slot) && (words[slot] & 0xff) == opcode) {
                return slot;
            }
        }
        return -1;
    }
}
