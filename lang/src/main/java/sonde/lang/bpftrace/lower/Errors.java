package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Vreg;
import sonde.lang.output.RuntimeFault;
import sonde.lang.source.Span;

/** Failures of helpers, told when the user asks for it. */
final class Errors {
    private final Lowerer lowerer;

    Errors(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    /** Tells that the script did what it should not. */
    void fault(RuntimeFault fault) {
        Span span = lowerer.emit().function().place();
        if (span != null) {
            lowerer.outputs().signal(lowerer.unit().action(new Action.Fault(fault, span)));
        }
    }

    /** Tells that a lookup found nothing. */
    void missing() {
        Span span = lowerer.emit().function().place();
        if (lowerer.unit().options().helperErrors() && span != null) {
            int action = lowerer.unit().action(new Action.HelperError("bpf_map_lookup_elem", span));
            lowerer.outputs().number(action, Operand.of(0), 4);
        }
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
