package sonde.bpf.insn;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A finished program: its words, and for each instruction the step of the program it belongs to.
 */
public final class ProgramCode {
    private final long[] words;
    private final List<String> steps;
    private volatile @Nullable List<Instruction> instructions;

    ProgramCode(List<Instruction> instructions, List<String> steps) {
        this.instructions = List.copyOf(instructions);
        this.words = InstructionEncoding.encode(instructions);
        this.steps = List.copyOf(steps);
    }

    private ProgramCode(long[] words) {
        this.words = words;
        this.steps = List.of();
    }

    /** Words that were made elsewhere, by a compiler; they belong to no step. */
    public static ProgramCode of(long[] words) {
        return new ProgramCode(words.clone());
    }

    /** The words to load, 8 bytes each. */
    public long[] words() {
        return words.clone();
    }

    /** The instructions. */
    public List<Instruction> instructions() {
        List<Instruction> known = instructions;
        if (known == null) {
            known = InstructionEncoding.decode(words);
            instructions = known;
        }
        return known;
    }

    /**
     * The step ({@link CodeBuilder#step}) that made the instruction at a slot; empty when none did.
     */
    public String stepAt(int slot) {
        int at = 0;
        for (int i = 0; i < steps.size(); i++) {
            at += instructions().get(i).slots();
            if (slot < at) {
                return slot < 0 ? "" : steps.get(i);
            }
        }
        return "";
    }

    /** The program as the kernel would print it. */
    @Override
    public String toString() {
        return String.join("\n", Disassembler.lines(words));
    }
}
