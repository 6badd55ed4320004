package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.lang.bpftrace.check.Promotion;
import sonde.lang.bpftrace.lower.Value.Number;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.Vreg;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/** Numbers of one type as numbers of another. */
final class Numbers {
    private final Lowerer lowerer;

    Numbers(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** A value as a number. */
    Operand convert(Value value, Type from, Type to) {
        return switch (value) {
            case Number n -> fit(n.operand(), from, to);
            case Place p -> fit(read(p, from), from, to);
        };
    }

    private Operand read(Place p, Type from) {
        if (Memory.isNumber(from)) {
            return lowerer.memory().load(p, from);
        }
        int size = from.sizeBytes() >= 8 ? 8 : Integer.highestOneBit(Math.max(1, from.sizeBytes()));
        return switch (from) {
            case Type.Array _, Type.Text _ -> lowerer.memory().load(p, new Int(size, false));
            default -> emit().address(p);
        };
    }

    /** Extends or cuts what a register holds, where the type asks for it. */
    Operand fit(Operand operand, Type from, Type to) {
        if (to instanceof Type.Bool) {
            return from instanceof Type.Bool ? operand : lowerer.operators().truth(operand);
        }
        int size = to.sizeBytes();
        boolean signed = Memory.isSigned(to);
        if (operand instanceof Operand.Number n) {
            return Operand.of(cut(n.value(), size, signed));
        }
        if (size >= 8 || !(to instanceof Int) && !(to instanceof Type.Enum)) {
            return operand;
        }
        int width = from instanceof Type.Aggregate ? 8 : from.sizeBytes();
        boolean fromSigned =
                from instanceof Type.Aggregate ? Promotion.isSigned(from) : Memory.isSigned(from);
        if (width == size && fromSigned == signed || width < size && (signed || !fromSigned)) {
            return operand;
        }
        return cut(operand, size, signed);
    }

    private Operand cut(Operand operand, int size, boolean signed) {
        Vreg from = emit().register(operand);
        Vreg to = emit().function().scalar();
        if (signed) {
            emit().function().add(new Operation.SignExtend(size * 8, to, from));
            return to;
        }
        if (size == 4) {
            Vreg up = emit().alu(AluOperation.SHIFT_LEFT, from, 32);
            return emit().alu(AluOperation.SHIFT_RIGHT, up, 32);
        }
        return emit().alu(AluOperation.AND, from, size == 1 ? 0xff : 0xffff);
    }

    private static long cut(long value, int size, boolean signed) {
        if (size >= 8 || size == 0) {
            return value;
        }
        int shift = 64 - size * 8;
        return signed ? value << shift >> shift : value << shift >>> shift;
    }
}
