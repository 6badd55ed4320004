package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.Vreg;

/** The body of a loop over the places at which a text may begin in another. */
final class Search {
    private final Lowerer lowerer;

    Search(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** Looks at one place: the loop's index; texts lie in the frame at these offsets. */
    void at(int haystack, int size, int needle, int most, int found) {
        Vreg index = emit().copy(emit().function().parameters().getFirst());
        Block next = emit().block();
        Block stop = emit().block();
        Block hit = emit().block();
        emit().when(Condition.GREATER_OR_EQUAL, index, size, stop);
        Place in = lowerer.frame().at(emit().function(), haystack);
        Place what = lowerer.frame().at(emit().function(), needle);
        Vreg start = emit().alu(AluOperation.ADD, emit().address(in), index);
        Vreg pattern = emit().address(what);
        Vreg step = emit().copy(Operand.of(0));
        Block head = emit().block();
        emit().start(head);
        emit().when(Condition.GREATER_OR_EQUAL, step, most, hit);
        Vreg at = emit().alu(AluOperation.ADD, pattern, step);
        Vreg wanted = emit().load(Width.U8, false, at, 0);
        emit().when(Condition.EQUAL, wanted, 0, hit);
        Vreg place = emit().alu(AluOperation.ADD, start, step);
        Vreg byteThere = emit().load(Width.U8, false, place, 0);
        emit().when(Condition.NOT_EQUAL, byteThere, wanted, next);
        emit().function().add(new Operation.Alu(AluOperation.ADD, true, step, step, Operand.of(1)));
        emit().go(head);
        emit().start(hit);
        Place result = lowerer.frame().at(emit().function(), found);
        emit().store(Width.U64, result.base(), result.offset(), index);
        emit().start(stop);
        emit().leave(Operand.of(1));
        emit().start(next);
        Vreg first = emit().load(Width.U8, false, start, 0);
        emit().when(Condition.EQUAL, first, 0, stop);
        emit().leave(Operand.of(0));
    }
}
