package sonde.probe.stack;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R5;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;
import static sonde.bpf.insn.JumpCondition.GREATER;
import static sonde.bpf.insn.JumpCondition.LESS_OR_EQUAL;
import static sonde.probe.stack.UnwindScratch.CURRENT;
import static sonde.probe.stack.UnwindScratch.PC;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;

/** The subprogram that finds the row of an address in the tables of its file. */
final class RowCode {
    private final UnwindTables tables;

    RowCode(UnwindTables tables) {
        this.tables = tables;
    }

    /** R0 = the rule for PC in the file of CURRENT. */
    void find(CodeBuilder code) {
        Label none = new Label("none");
        Label found = new Label("found");
        code.move(R6, R1)
                .load(Width.U64, R9, R6, PC)
                .load(Width.U64, R1, R6, CURRENT + 16)
                .add(R9, R1)
                .move(R1, R9)
                .shiftRight(R1, 32)
                .ifNotZero(R1, none)
                .load(Width.U32, R7, R6, CURRENT + 24)
                .load(Width.U32, R8, R6, CURRENT + 28)
                .ifZero(R8, none);
        piece(code, none);
        // R8 = the rows of the piece, R2 = the lower bound, R3 = how many from there on
        for (int step = 0; step < UnwindTables.ROW_BITS + 1; step++) {
            Label above = new Label("above");
            Label below = new Label("below");
            code.branch(LESS_OR_EQUAL, R3, 1, found)
                    .move(R4, R3)
                    .shiftRight(R4, 1)
                    .move(R5, R2)
                    .add(R5, R4);
            rowAddress(code, R5, R1);
            code.load(Width.U32, R1, R1, 0)
                    .branch(GREATER, R1, R9, above)
                    .move(R2, R5)
                    .compute(AluOperation.SUBTRACT, R3, R4)
                    .jump(below)
                    .at(above)
                    .move(R3, R4)
                    .at(below);
        }
        code.at(found);
        rowAddress(code, R2, R1);
        code.load(Width.U32, R2, R1, 0)
                .branch(GREATER, R2, R9, none)
                .load(Width.U32, R0, R1, 4)
                .exit()
                .at(none)
                .exit(0);
    }

    private static void rowAddress(CodeBuilder code, BpfRegister row, BpfRegister to) {
        code.move(to, row).and(to, (1 << UnwindTables.ROW_BITS) - 1).shiftLeft(to, 3).add(to, R8);
    }

    /**
     * R7 = first piece, R8 = number of pieces, R9 = offset in the file. Afterwards R8 = the values
     * of its chunk, R2 = its first row, R3 = the number of its rows.
     */
    private void piece(CodeBuilder code, Label none) {
        Label chosen = new Label("chosen");
        code.step("the piece of the file");
        for (int i = 1; i < UnwindTables.MOST_PIECES; i++) {
            // The next piece, as long as it does not begin behind the offset.
            code.branch(LESS_OR_EQUAL, R8, i, chosen)
                    .move(R1, R7)
                    .add(R1, 1)
                    .store(Width.U32, R10, -4, R1);
            lookUp(code, tables.pieces().fd());
            code.ifZero(R0, none)
                    .load(Width.U32, R1, R0, 0)
                    .branch(GREATER, R1, R9, chosen)
                    .add(R7, 1);
        }
        code.at(chosen).store(Width.U32, R10, -4, R7);
        lookUp(code, tables.pieces().fd());
        code.ifZero(R0, none)
                .load(Width.U32, R1, R0, 4)
                .store(Width.U32, R10, -4, R1)
                .load(Width.U32, R7, R0, 8)
                .load(Width.U32, R8, R0, 12);
        lookUp(code, tables.chunks().fd());
        code.ifZero(R0, none)
                .store(Width.U32, R10, -4, 0)
                .move(R1, R0)
                .move(R2, R10)
                .add(R2, -4)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, none)
                .move(R2, R7)
                .move(R3, R8)
                .move(R8, R0)
                .step("the row");
    }

    private static void lookUp(CodeBuilder code, int mapFd) {
        code.map(R1, mapFd).move(R2, R10).add(R2, -4).call(HelperFunctionId.MAP_LOOKUP_ELEM);
    }
}
