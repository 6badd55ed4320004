package sonde.lang.bpftrace.lower;

import java.util.Set;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.PtRegs;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.StackCopy;

/** Copies a thread's registers in user mode and what lies on its stack. */
final class StackCopies {
    private final ProgramLowering lowerer;

    StackCopies(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** Writes what {@link StackCopy} says. */
    void copy(PlaceValue to) {
        VirtualRegister process = lowerer.context().process();
        store(to, 0, process);
        store(to, StackCopy.COUNT, IrOperand.of(0));
        VirtualRegister registers =
                lowerer.clause().site().isUser()
                        ? lowerer.body().context()
                        : emit().find(
                                        HelperFunctionId.TASK_PT_REGS,
                                        emit().find(HelperFunctionId.GET_CURRENT_TASK_BTF));
        VirtualRegister result =
                emit().call(
                                HelperFunctionId.PROBE_READ_KERNEL,
                                emit().address(to.plus(StackCopy.REGISTERS)),
                                IrOperand.of(StackCopy.REGISTERS_BYTES),
                                registers);
        lowerer.errors().check(result, HelperFunctionId.PROBE_READ_KERNEL);
        BasicBlock done = emit().block();
        onlyWanted(process, to, done);
        pages(to, done);
        emit().start(done);
    }

    private void store(PlaceValue to, int at, IrOperand value) {
        emit().store(Width.U64, to.base(), to.offset() + at, value);
    }

    private void onlyWanted(VirtualRegister process, PlaceValue to, BasicBlock done) {
        Set<Integer> wanted = lowerer.unit().options().copiedStacks();
        if (wanted.isEmpty()) {
            return;
        }
        BasicBlock some = emit().block();
        for (int pid : wanted) {
            emit().when(JumpCondition.EQUAL, process, pid, some);
        }
        store(to, StackCopy.COUNT, IrOperand.of(StackCopy.NOT_WANTED));
        emit().go(done);
        emit().start(some);
    }

    /** A page that is not there ends the copy: above it nothing of the stack can be read. */
    private void pages(PlaceValue to, BasicBlock done) {
        PlaceValue registers = to.plus(StackCopy.REGISTERS);
        VirtualRegister pointer =
                emit().load(
                                Width.U64,
                                false,
                                registers.base(),
                                registers.offset() + PtRegs.stackPointer());
        VirtualRegister page = emit().alu(AluOperation.AND, pointer, -StackCopy.PAGE_BYTES);
        for (int i = 0; i < StackCopy.PAGES; i++) {
            int at = i * StackCopy.PAGE_BYTES;
            VirtualRegister result =
                    emit().call(
                                    HelperFunctionId.PROBE_READ_USER,
                                    emit().address(to.plus(StackCopy.STACK + at)),
                                    IrOperand.of(StackCopy.PAGE_BYTES),
                                    i == 0 ? page : emit().alu(AluOperation.ADD, page, at));
            emit().when(JumpCondition.NOT_EQUAL, result, 0, done);
            store(to, StackCopy.COUNT, IrOperand.of(at + StackCopy.PAGE_BYTES));
        }
    }
}
