package sonde.bpf.classic;

import java.util.Arrays;
import java.util.List;
import sonde.bpf.classic.ClassicInstruction.AluX;
import sonde.bpf.classic.ClassicInstruction.AncillarySource;
import sonde.bpf.classic.ClassicInstruction.BranchX;
import sonde.bpf.classic.ClassicInstruction.ClassicAlu;
import sonde.bpf.classic.ClassicInstruction.ClassicBranch;
import sonde.bpf.classic.ClassicInstruction.ClassicConstant;
import sonde.bpf.classic.ClassicInstruction.ClassicJump;
import sonde.bpf.classic.ClassicInstruction.ClassicLoad;
import sonde.bpf.classic.ClassicInstruction.ClassicNegate;
import sonde.bpf.classic.ClassicInstruction.ClassicReturn;
import sonde.bpf.classic.ClassicInstruction.ClassicStore;
import sonde.bpf.classic.ClassicInstruction.ClassicTransfer;
import sonde.bpf.classic.ClassicInstruction.HeaderLength;
import sonde.bpf.classic.ClassicInstruction.MemoryCell;
import sonde.bpf.classic.ClassicInstruction.PacketBytes;
import sonde.bpf.classic.ClassicInstruction.PacketIndexed;
import sonde.bpf.classic.ClassicInstruction.PacketLength;
import sonde.bpf.classic.ClassicInstruction.ReturnA;

/** What bpf_check_classic and check_load_and_stores of net/core/filter.c refuse. */
final class ClassicCheck {
    private final List<ClassicInstruction> program;

    /** For each instruction a bit for each cell that is written on every way to it. */
    private final int[] written;

    private ClassicCheck(List<ClassicInstruction> program) {
        this.program = program;
        this.written = new int[program.size()];
        Arrays.fill(written, -1);
    }

    static void check(List<ClassicInstruction> program) throws ClassicFilterException {
        if (program.isEmpty() || program.size() > ClassicProgram.MOST) {
            throw new ClassicFilterException(
                    -1,
                    "a filter has 1 to %d instructions, not %d"
                            .formatted(ClassicProgram.MOST, program.size()));
        }
        ClassicInstruction last = program.getLast();
        if (!(last instanceof ClassicReturn || last instanceof ReturnA)) {
            throw new ClassicFilterException(program.size() - 1, "the last one has to be ret");
        }
        ClassicCheck check = new ClassicCheck(program);
        check.written[0] = 0;
        for (int i = 0; i < program.size(); i++) {
            check.one(i);
        }
    }

    private void one(int index) throws ClassicFilterException {
        switch (program.get(index)) {
            case ClassicLoad load -> {
                source(index, load);
                follow(index, 0, 0);
            }
            case ClassicStore store -> {
                cell(index, store.cell());
                follow(index, 0, 1 << store.cell());
            }
            case ClassicAlu alu -> {
                constant(index, alu);
                follow(index, 0, 0);
            }
            case ClassicJump jump -> follow(index, jump.distance(), 0);
            case ClassicBranch branch -> {
                follow(index, branch.ifTrue(), 0);
                follow(index, branch.ifFalse(), 0);
            }
            case BranchX branch -> {
                follow(index, branch.ifTrue(), 0);
                follow(index, branch.ifFalse(), 0);
            }
            case AluX _, ClassicNegate _, ClassicTransfer _ -> follow(index, 0, 0);
            case ClassicReturn _, ReturnA _ -> {}
        }
    }

    private void follow(int index, int distance, int adds) throws ClassicFilterException {
        long target = index + 1L + Integer.toUnsignedLong(distance);
        if (target >= program.size()) {
            throw new ClassicFilterException(
                    index, "it jumps to %d, behind the last one".formatted(target));
        }
        written[(int) target] &= written[index] | adds;
    }

    private void source(int index, ClassicLoad load) throws ClassicFilterException {
        switch (load.source()) {
            case MemoryCell(int number) -> {
                cell(index, number);
                if ((written[index] >> number & 1) == 0) {
                    throw new ClassicFilterException(
                            index, "M[%d] is read where it may not be written".formatted(number));
                }
            }
            case PacketBytes(_, int offset) -> {
                offset(index, offset);
                into(index, load, false);
            }
            case PacketIndexed _, AncillarySource _ -> into(index, load, false);
            case HeaderLength(int offset) -> {
                offset(index, offset);
                into(index, load, true);
            }
            case ClassicConstant _, PacketLength _ -> {}
        }
    }

    /** Decoded ones are always right; others may have been made so. */
    private static void into(int index, ClassicLoad load, boolean x) throws ClassicFilterException {
        if (load.toX() != x) {
            throw new ClassicFilterException(
                    index, "such a load goes into " + (x ? "X" : "A") + " only");
        }
    }

    /** Below SKF_AD_OFF lie the layers; what is between has no meaning. */
    private static void offset(int index, int offset) throws ClassicFilterException {
        if (offset < 0) {
            throw new ClassicFilterException(
                    index,
                    "offset %d: of what lies outside of the packet only facts are known here"
                            .formatted(offset));
        }
    }

    private static void cell(int index, int number) throws ClassicFilterException {
        if (number < 0 || number >= ClassicProgram.CELLS) {
            throw new ClassicFilterException(index, "M[%d]: there are 16".formatted(number));
        }
    }

    private static void constant(int index, ClassicAlu alu) throws ClassicFilterException {
        switch (alu.operation()) {
            case DIV, MOD -> {
                if (alu.value() == 0) {
                    throw new ClassicFilterException(index, "a division by 0");
                }
            }
            case LSH, RSH -> {
                if (alu.value() < 0 || alu.value() > 31) {
                    throw new ClassicFilterException(
                            index, "a shift by %d of 32 bits".formatted(alu.value()));
                }
            }
            default -> {}
        }
    }
}
