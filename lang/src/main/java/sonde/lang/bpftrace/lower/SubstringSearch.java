package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.VirtualRegister;

/** The body of a loop over the places at which a text may begin in another. */
final class SubstringSearch {
    private final ProgramLowering lowerer;

    SubstringSearch(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** Looks at one place: the loop's index; texts lie in the frame at these offsets. */
    void at(int haystack, int size, int needle, int most, int found) {
        VirtualRegister index = emit().copy(emit().function().parameters().getFirst());
        BasicBlock next = emit().block();
        BasicBlock stop = emit().block();
        BasicBlock hit = emit().block();
        emit().when(JumpCondition.GREATER_OR_EQUAL, index, size, stop);
        PlaceValue in = lowerer.frame().at(emit().function(), haystack);
        PlaceValue what = lowerer.frame().at(emit().function(), needle);
        VirtualRegister start = emit().alu(AluOperation.ADD, emit().address(in), index);
        VirtualRegister pattern = emit().address(what);
        VirtualRegister step = emit().copy(IrOperand.of(0));
        BasicBlock head = emit().block();
        emit().start(head);
        emit().when(JumpCondition.GREATER_OR_EQUAL, step, most, hit);
        VirtualRegister at = emit().alu(AluOperation.ADD, pattern, step);
        VirtualRegister wanted = emit().load(Width.U8, false, at, 0);
        emit().when(JumpCondition.EQUAL, wanted, 0, hit);
        VirtualRegister place = emit().alu(AluOperation.ADD, start, step);
        VirtualRegister byteThere = emit().load(Width.U8, false, place, 0);
        emit().when(JumpCondition.NOT_EQUAL, byteThere, wanted, next);
        emit().function().add(new IrAlu(AluOperation.ADD, true, step, step, IrOperand.of(1)));
        emit().go(head);
        emit().start(hit);
        PlaceValue result = lowerer.frame().at(emit().function(), found);
        emit().store(Width.U64, result.base(), result.offset(), index);
        emit().start(stop);
        emit().leave(IrOperand.of(1));
        emit().start(next);
        VirtualRegister first = emit().load(Width.U8, false, start, 0);
        emit().when(JumpCondition.EQUAL, first, 0, stop);
        emit().leave(IrOperand.of(0));
    }
}
