package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.lang.bpftrace.check.TypePromotion;
import sonde.lang.bpftrace.lower.LoweredValue.NumberValue;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.IrSignExtend;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.TextType;

/** Numbers of one type as numbers of another. */
final class NumberConversions {
    private final ProgramLowering lowerer;

    NumberConversions(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** A value as a number. */
    IrOperand convert(LoweredValue value, ValueType from, ValueType to) {
        return switch (value) {
            case NumberValue n -> fit(n.operand(), from, to);
            case PlaceValue p -> fit(read(p, from), from, to);
        };
    }

    private IrOperand read(PlaceValue p, ValueType from) {
        if (MemoryLowering.isNumber(from)) {
            return lowerer.memory().load(p, from);
        }
        int size = from.sizeBytes() >= 8 ? 8 : Integer.highestOneBit(Math.max(1, from.sizeBytes()));
        return switch (from) {
            case ArrayType _, TextType _ -> lowerer.memory().load(p, new IntType(size, false));
            default -> emit().address(p);
        };
    }

    /** Extends or cuts what a register holds, where the type asks for it. */
    IrOperand fit(IrOperand operand, ValueType from, ValueType to) {
        if (to instanceof BoolType) {
            return from instanceof BoolType ? operand : lowerer.operators().truth(operand);
        }
        int size = to.sizeBytes();
        boolean signed = MemoryLowering.isSigned(to);
        if (operand instanceof IrNumber n) {
            return IrOperand.of(cut(n.value(), size, signed));
        }
        if (size >= 8 || !(to instanceof IntType) && !(to instanceof EnumType)) {
            return operand;
        }
        int width = from instanceof AggregateType ? 8 : from.sizeBytes();
        boolean fromSigned =
                from instanceof AggregateType
                        ? TypePromotion.isSigned(from)
                        : MemoryLowering.isSigned(from);
        if (width == size && fromSigned == signed || width < size && (signed || !fromSigned)) {
            return operand;
        }
        return cut(operand, size, signed);
    }

    private IrOperand cut(IrOperand operand, int size, boolean signed) {
        VirtualRegister from = emit().register(operand);
        VirtualRegister to = emit().function().scalar();
        if (signed) {
            emit().function().add(new IrSignExtend(size * 8, to, from));
            return to;
        }
        if (size == 4) {
            VirtualRegister up = emit().alu(AluOperation.SHIFT_LEFT, from, 32);
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
