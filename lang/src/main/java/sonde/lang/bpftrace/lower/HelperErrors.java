package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.lang.bpftrace.lower.EventAction.FaultAction;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.output.RuntimeFault;
import sonde.lang.source.SourceSpan;

/** Failures of helpers, told when the user asks for it. */
final class HelperErrors {
    private final ProgramLowering lowerer;

    HelperErrors(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    /** Tells that the script did what it should not. */
    void fault(RuntimeFault fault) {
        SourceSpan span = lowerer.emit().function().place();
        if (span != null) {
            lowerer.outputs().signal(lowerer.unit().action(new FaultAction(fault, span)));
        }
    }

    /** Tells that a lookup found nothing. */
    void missing() {
        SourceSpan span = lowerer.emit().function().place();
        if (lowerer.unit().options().helperErrors() && span != null) {
            int action =
                    lowerer.unit().action(new EventAction.HelperError("bpf_map_lookup_elem", span));
            lowerer.outputs().number(action, IrOperand.of(0), 4);
        }
    }

    /** Tells of a result below 0. */
    void check(VirtualRegister result, int helper) {
        SourceSpan span = lowerer.emit().function().place();
        if (!lowerer.unit().options().helperErrors() || span == null) {
            return;
        }
        BasicBlock fine = lowerer.emit().block();
        lowerer.emit().when(JumpCondition.SIGNED_GREATER_OR_EQUAL, result, 0, fine);
        int action =
                lowerer.unit()
                        .action(new EventAction.HelperError(HelperFunctionId.name(helper), span));
        lowerer.outputs().number(action, result, 4);
        lowerer.emit().start(fine);
    }
}
