package sonde.lang.bpftrace.lower;

import java.util.List;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.ir.AccessAnchor;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrFunction;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;

/** Writes operations by their effects. */
final class OperationEmitter {
    private final IrFunction function;

    OperationEmitter(IrFunction function) {
        this.function = function;
    }

    IrFunction function() {
        return function;
    }

    VirtualRegister constant(long value) {
        VirtualRegister to = function.scalar();
        function.add(new IrConstant(to, value));
        return to;
    }

    /** In a register, whatever it is. */
    VirtualRegister register(IrOperand operand) {
        return switch (operand) {
            case VirtualRegister r -> r;
            case IrNumber n -> constant(n.value());
        };
    }

    void set(VirtualRegister to, IrOperand from) {
        switch (from) {
            case VirtualRegister r -> function.add(new IrCopy(to, r));
            case IrNumber n -> function.add(new IrConstant(to, n.value()));
        }
    }

    VirtualRegister copy(IrOperand from) {
        VirtualRegister to = function.scalar();
        set(to, from);
        return to;
    }

    VirtualRegister alu(AluOperation operation, IrOperand left, IrOperand right) {
        VirtualRegister from = register(left);
        VirtualRegister to =
                from.kind() == VirtualRegister.Kind.POINTER
                                && (operation == AluOperation.ADD
                                        || operation == AluOperation.SUBTRACT)
                        ? function.pointer()
                        : function.scalar();
        function.add(new IrAlu(operation, true, to, from, right));
        return to;
    }

    VirtualRegister alu(AluOperation operation, IrOperand left, long right) {
        return alu(operation, left, IrOperand.of(right));
    }

    VirtualRegister load(Width width, boolean signed, AccessAnchor base, int offset) {
        VirtualRegister to = function.scalar();
        function.add(new IrLoad(width, signed, to, base, offset));
        return to;
    }

    void store(Width width, AccessAnchor base, int offset, IrOperand from) {
        function.add(new IrStore(width, base, offset, from));
    }

    VirtualRegister call(int helper, IrOperand... arguments) {
        VirtualRegister to = function.scalar();
        function.add(new IrCall(to, helper, List.of(arguments)));
        return to;
    }

    /** Calls a helper that gives an address, or null. */
    VirtualRegister find(int helper, IrOperand... arguments) {
        VirtualRegister to = function.pointer();
        function.add(new IrCall(to, helper, List.of(arguments)));
        return to;
    }

    void run(int helper, IrOperand... arguments) {
        function.add(new IrCall(null, helper, List.of(arguments)));
    }

    VirtualRegister map(String name) {
        VirtualRegister to = function.pointer();
        function.add(new IrOperation.MapAddress(to, name));
        return to;
    }

    VirtualRegister mapValue(String name, int offset) {
        VirtualRegister to = function.pointer();
        function.add(new IrOperation.MapValue(to, name, offset));
        return to;
    }

    /** The address of a place, whosever memory it is. */
    VirtualRegister address(PlaceValue place) {
        return switch (place.base()) {
            case StackObject object -> {
                VirtualRegister to = function.pointer();
                function.add(new IrAddress(to, object, place.offset()));
                yield to;
            }
            case VirtualRegister base ->
                    place.offset() == 0 ? base : alu(AluOperation.ADD, base, place.offset());
        };
    }

    BasicBlock block() {
        return function.block();
    }

    void start(BasicBlock block) {
        function.start(block);
    }

    void go(BasicBlock target) {
        function.add(new IrGoto(target));
    }

    void leave(IrOperand value) {
        function.add(new IrReturn(value));
    }

    /** Goes to {@code then} when the condition holds, and on writing in a new block otherwise. */
    void when(JumpCondition condition, VirtualRegister left, IrOperand right, BasicBlock then) {
        BasicBlock next = block();
        function.add(new IrBranch(condition, true, left, right, then, next));
        start(next);
    }

    void when(JumpCondition condition, VirtualRegister left, long right, BasicBlock then) {
        when(condition, left, IrOperand.of(right), then);
    }
}
