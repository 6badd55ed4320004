package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.Vreg;
import sonde.lang.type.Type;

/** Which bucket of a histogram a value belongs to. */
final class Buckets {
    private Buckets() {}

    /** By powers of two with {@code bits} bits of steps: see {@link Type.Hist}. */
    static Vreg powers(Emitter emit, Vreg value, int bits) {
        Vreg result = emit.copy(Operand.of(0));
        Block done = emit.block();
        emit.when(Condition.SIGNED_LESS, value, 0, done);
        if (bits == 0) {
            emit.set(result, Operand.of(1));
            emit.when(Condition.EQUAL, value, 0, done);
            emit.set(result, highestBit(emit, value, 2));
            emit.start(done);
            return result;
        }
        Block large = emit.block();
        emit.when(Condition.GREATER_OR_EQUAL, value, 1L << bits, large);
        emit.set(result, emit.alu(AluOperation.ADD, value, 1));
        emit.go(done);
        emit.start(large);
        Vreg log = highestBit(emit, value, 0);
        Vreg shift = emit.alu(AluOperation.SUBTRACT, log, bits);
        Vreg power = emit.alu(AluOperation.ADD, shift, 1);
        Vreg base = emit.alu(AluOperation.SHIFT_LEFT, power, bits);
        Vreg top = emit.alu(AluOperation.SHIFT_RIGHT, value, shift);
        Vreg steps = emit.alu(AluOperation.AND, top, (1L << bits) - 1);
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
    private static Vreg highestBit(Emitter emit, Vreg value, int first) {
        Vreg rest = emit.copy(value);
        Vreg log = emit.copy(Operand.of(first));
        Block low = emit.block();
        // 1 << 32 would take an instruction of two words.
        Vreg high = emit.alu(AluOperation.SHIFT_RIGHT, rest, 32);
        emit.when(Condition.EQUAL, high, 0, low);
        emit.set(rest, high);
        step(emit, AluOperation.ADD, log, Operand.of(32));
        emit.start(low);
        for (int half = 16; half > 1; half /= 2) {
            Block next = emit.block();
            emit.when(Condition.LESS, rest, 1L << half, next);
            step(emit, AluOperation.SHIFT_RIGHT, rest, Operand.of(half));
            step(emit, AluOperation.ADD, log, Operand.of(half));
            emit.start(next);
        }
        step(emit, AluOperation.SHIFT_RIGHT, rest, Operand.of(1));
        step(emit, AluOperation.ADD, log, rest);
        return log;
    }

    private static void step(Emitter emit, AluOperation operation, Vreg of, Operand by) {
        emit.function().add(new Operation.Alu(operation, true, of, of, by));
    }

    /** By equal steps: see {@link Type.Lhist}. */
    static Vreg steps(Emitter emit, Vreg value, Type.Lhist type) {
        Vreg result = emit.copy(Operand.of(0));
        Block done = emit.block();
        emit.when(Condition.SIGNED_LESS, value, type.min(), done);
        emit.set(result, Operand.of(type.buckets() - 1L));
        emit.when(Condition.SIGNED_GREATER_OR_EQUAL, value, type.max(), done);
        Vreg above = emit.alu(AluOperation.SUBTRACT, value, type.min());
        Vreg step = emit.alu(AluOperation.DIVIDE, above, Operand.of(type.step()));
        emit.set(result, emit.alu(AluOperation.ADD, step, 1));
        emit.start(done);
        return result;
    }
}
