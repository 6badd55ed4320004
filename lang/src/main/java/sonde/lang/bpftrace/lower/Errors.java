package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.lang.ir.Block;
import sonde.lang.ir.Vreg;
import sonde.lang.source.Span;

/** Failures of helpers, told when the user asks for it. */
final class Errors {
    private final Lowerer lowerer;

    Errors(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    /** Tells of a result below 0. */
    void check(Vreg result, int helper) {
        Span span = lowerer.emit().function().place();
        if (!lowerer.unit().options().helperErrors() || span == null) {
            return;
        }
        Block fine = lowerer.emit().block();
        lowerer.emit().when(Condition.SIGNED_GREATER_OR_EQUAL, result, 0, fine);
        int action =
                lowerer.unit().action(new Action.HelperError(KernelFunction.name(helper), span));
        lowerer.outputs().number(action, result, 4);
        lowerer.emit().start(fine);
    }
}
