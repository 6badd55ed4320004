package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.LhistType;

/** Which bucket of a histogram a value belongs to. */
final class Buckets {
    private Buckets() {}

    /** By powers of two with {@code bits} bits of steps: see {@link ValueType.HistType}. */
    static VirtualRegister powers(OperationEmitter emit, VirtualRegister value, int bits) {
        VirtualRegister result = emit.copy(IrOperand.of(0));
        BasicBlock done = emit.block();
        emit.when(JumpCondition.SIGNED_LESS, value, 0, done);
        if (bits == 0) {
            emit.set(result, IrOperand.of(1));
            emit.when(JumpCondition.EQUAL, value, 0, done);
            emit.set(result, highestBit(emit, value, 2));
            emit.start(done);
            return result;
        }
        BasicBlock large = emit.block();
        emit.when(JumpCondition.GREATER_OR_EQUAL, value, 1L << bits, large);
        emit.set(result, emit.alu(AluOperation.ADD, value, 1));
        emit.go(done);
        emit.start(large);
        VirtualRegister log = highestBit(emit, value, 0);
        VirtualRegister shift = emit.alu(AluOperation.SUBTRACT, log, bits);
        VirtualRegister power = emit.alu(AluOperation.ADD, shift, 1);
        VirtualRegister base = emit.alu(AluOperation.SHIFT_LEFT, power, bits);
        VirtualRegister top = emit.alu(AluOperation.SHIFT_RIGHT, value, shift);
        VirtualRegister steps = emit.alu(AluOperation.AND, top, (1L << bits) - 1);
        emit.set(result, emit.alu(AluOperation.ADD, emit.alu(AluOperation.ADD, base, steps), 1));
        emit.start(done);
        return result;
    }

    /**
     * The place of the highest bit, by halves.
     *
     * @param value not 0
     * @param first the place of the lowest bit
     */
    private static VirtualRegister highestBit(
            OperationEmitter emit, VirtualRegister value, int first) {
        VirtualRegister rest = emit.copy(value);
        VirtualRegister log = emit.copy(IrOperand.of(first));
        BasicBlock low = emit.block();
        // 1 << 32 would take an instruction of two words.
        VirtualRegister high = emit.alu(AluOperation.SHIFT_RIGHT, rest, 32);
        emit.when(JumpCondition.EQUAL, high, 0, low);
        emit.set(rest, high);
        step(emit, AluOperation.ADD, log, IrOperand.of(32));
        emit.start(low);
        for (int half = 16; half > 1; half /= 2) {
            BasicBlock next = emit.block();
            emit.when(JumpCondition.LESS, rest, 1L << half, next);
            step(emit, AluOperation.SHIFT_RIGHT, rest, IrOperand.of(half));
            step(emit, AluOperation.ADD, log, IrOperand.of(half));
            emit.start(next);
        }
        step(emit, AluOperation.SHIFT_RIGHT, rest, IrOperand.of(1));
        step(emit, AluOperation.ADD, log, rest);
        return log;
    }

    private static void step(
            OperationEmitter emit, AluOperation operation, VirtualRegister of, IrOperand by) {
        emit.function().add(new IrAlu(operation, true, of, of, by));
    }

    /** By equal steps: see {@link ValueType.LhistType}. */
    static VirtualRegister steps(OperationEmitter emit, VirtualRegister value, LhistType type) {
        VirtualRegister result = emit.copy(IrOperand.of(0));
        BasicBlock done = emit.block();
        emit.when(JumpCondition.SIGNED_LESS, value, type.min(), done);
        emit.set(result, IrOperand.of(type.buckets() - 1L));
        emit.when(JumpCondition.SIGNED_GREATER_OR_EQUAL, value, type.max(), done);
        VirtualRegister above = emit.alu(AluOperation.SUBTRACT, value, type.min());
        VirtualRegister step = emit.alu(AluOperation.DIVIDE, above, IrOperand.of(type.step()));
        emit.set(result, emit.alu(AluOperation.ADD, step, 1));
        emit.start(done);
        return result;
    }
}
