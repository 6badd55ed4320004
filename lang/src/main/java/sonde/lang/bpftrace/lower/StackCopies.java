package sonde.lang.bpftrace.lower;

import java.util.Set;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Vreg;
import sonde.lang.type.StackCopy;

/** Copies a thread's registers in user mode and what lies on its stack. */
final class StackCopies {
    private final Lowerer lowerer;

    StackCopies(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** Writes what {@link StackCopy} says. */
    void copy(Place to) {
        Vreg process = lowerer.context().process();
        store(to, 0, process);
        store(to, StackCopy.COUNT, Operand.of(0));
        Vreg registers =
                lowerer.clause().site().isUser()
                        ? lowerer.body().context()
                        : emit().find(
                                        KernelFunction.TASK_PT_REGS,
                                        emit().find(KernelFunction.GET_CURRENT_TASK_BTF));
        Vreg result =
                emit().call(
                                KernelFunction.PROBE_READ_KERNEL,
                                emit().address(to.plus(StackCopy.REGISTERS)),
                                Operand.of(StackCopy.REGISTERS_BYTES),
                                registers);
        lowerer.errors().check(result, KernelFunction.PROBE_READ_KERNEL);
        Block done = emit().block();
        onlyWanted(process, to, done);
        pages(to, done);
        emit().start(done);
    }

    private void store(Place to, int at, Operand value) {
        emit().store(Width.U64, to.base(), to.offset() + at, value);
    }

    private void onlyWanted(Vreg process, Place to, Block done) {
        Set<Integer> wanted = lowerer.unit().options().copiedStacks();
        if (wanted.isEmpty()) {
            return;
        }
        Block some = emit().block();
        for (int pid : wanted) {
            emit().when(Condition.EQUAL, process, pid, some);
        }
        store(to, StackCopy.COUNT, Operand.of(StackCopy.NOT_WANTED));
        emit().go(done);
        emit().start(some);
    }

    /** A page that is not there ends the copy: above it nothing of the stack can be read. */
    private void pages(Place to, Block done) {
        Place registers = to.plus(StackCopy.REGISTERS);
        Vreg pointer =
                emit().load(
                                Width.U64,
                                false,
                                registers.base(),
                                registers.offset() + Registers.stackPointer());
        Vreg page = emit().alu(AluOperation.AND, pointer, -StackCopy.PAGE_BYTES);
        for (int i = 0; i < StackCopy.PAGES; i++) {
            int at = i * StackCopy.PAGE_BYTES;
            Vreg result =
                    emit().call(
                                    KernelFunction.PROBE_READ_USER,
                                    emit().address(to.plus(StackCopy.STACK + at)),
                                    Operand.of(StackCopy.PAGE_BYTES),
                                    i == 0 ? page : emit().alu(AluOperation.ADD, page, at));
            emit().when(Condition.NOT_EQUAL, result, 0, done);
            store(to, StackCopy.COUNT, Operand.of(at + StackCopy.PAGE_BYTES));
        }
    }
}
