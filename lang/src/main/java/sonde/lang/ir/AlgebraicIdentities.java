package sonde.lang.ir;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrSwap;

/** Arithmetic with one known side, made cheaper. */
final class AlgebraicIdentities {
    private static final long LOW = 0xffffffffL;

    private AlgebraicIdentities() {}

    /** The same with fewer or cheaper instructions; the operation itself when there is none. */
    static IrOperation of(IrAlu alu) {
        if (!(alu.right() instanceof IrNumber(long number))) {
            return same(alu);
        }
        long value = alu.wide() ? number : (int) number;
        return switch (alu.operation()) {
            case ADD -> value == 0 ? unchanged(alu) : number(alu, value);
            case SUBTRACT -> {
                // The opposite of the smallest number is itself and fits no instruction either.
                boolean fits = value == (int) value && -value == (int) -value;
                yield value == 0
                        ? unchanged(alu)
                        : fits ? with(alu, AluOperation.ADD, -value) : number(alu, value);
            }
            case OR, XOR -> value == 0 ? unchanged(alu) : number(alu, value);
            case AND -> and(alu, value);
            case MULTIPLY -> multiply(alu, value);
            case SHIFT_LEFT, SHIFT_RIGHT, SHIFT_RIGHT_SIGNED -> {
                long bits = value & (alu.wide() ? 63 : 31);
                yield bits == 0 ? unchanged(alu) : number(alu, bits);
            }
            case DIVIDE -> divide(alu, value);
            case REMAINDER -> remainder(alu, value);
            case SIGNED_DIVIDE -> signedDivide(alu, value);
            case SIGNED_REMAINDER -> value == 0 ? unchanged(alu) : number(alu, value);
            case MOVE -> alu;
        };
    }

    /** Both sides the same register. */
    private static IrOperation same(IrAlu alu) {
        boolean both = alu.right() == alu.left();
        return switch (alu.operation()) {
            case SUBTRACT, XOR ->
                    both && alu.left().kind() == VirtualRegister.Kind.SCALAR
                            ? new IrConstant(alu.to(), 0)
                            : alu;
            case AND, OR -> both ? unchanged(alu) : alu;
            default -> alu;
        };
    }

    private static IrOperation unchanged(IrAlu alu) {
        return alu.wide()
                ? new IrCopy(alu.to(), alu.left())
                : new IrAlu(AluOperation.MOVE, false, alu.to(), alu.left(), alu.left());
    }

    private static IrAlu with(IrAlu alu, AluOperation operation, long value) {
        return new IrAlu(operation, alu.wide(), alu.to(), alu.left(), IrOperand.of(value));
    }

    private static IrAlu number(IrAlu alu, long value) {
        return alu.right() instanceof IrNumber(long before) && before == value
                ? alu
                : with(alu, alu.operation(), value);
    }

    private static IrOperation and(IrAlu alu, long value) {
        if (value == 0) {
            return new IrConstant(alu.to(), 0);
        }
        if (value == -1) {
            return unchanged(alu);
        }
        return alu.wide() && value == LOW
                ? new IrAlu(AluOperation.MOVE, false, alu.to(), alu.left(), alu.left())
                : number(alu, value);
    }

    private static IrOperation multiply(IrAlu alu, long value) {
        if (value == 0) {
            return new IrConstant(alu.to(), 0);
        }
        int bits = exponent(alu, value);
        return bits == 0
                ? unchanged(alu)
                : bits > 0 ? with(alu, AluOperation.SHIFT_LEFT, bits) : number(alu, value);
    }

    private static IrOperation divide(IrAlu alu, long value) {
        if (value == 0) {
            return new IrConstant(alu.to(), 0);
        }
        int bits = exponent(alu, value);
        return bits == 0
                ? unchanged(alu)
                : bits > 0 ? with(alu, AluOperation.SHIFT_RIGHT, bits) : number(alu, value);
    }

    private static IrOperation remainder(IrAlu alu, long value) {
        if (value == 0) {
            return unchanged(alu);
        }
        int bits = exponent(alu, value);
        if (bits == 0) {
            return new IrConstant(alu.to(), 0);
        }
        return bits > 0 && bits <= 31
                ? with(alu, AluOperation.AND, (1L << bits) - 1)
                : number(alu, value);
    }

    private static IrOperation signedDivide(IrAlu alu, long value) {
        if (value == 0) {
            return new IrConstant(alu.to(), 0);
        }
        return value == 1 ? unchanged(alu) : number(alu, value);
    }

    /** Which power of two it is, unsigned; -1 for none. */
    private static int exponent(IrAlu alu, long value) {
        long unsigned = alu.wide() ? value : value & LOW;
        return Long.bitCount(unsigned) == 1 ? Long.numberOfTrailingZeros(unsigned) : -1;
    }

    /** How many of the low bits may be set, from the operations that alone write registers. */
    static int significantBits(
            VirtualRegister register, @Nullable IrOperation[] definitions, int depth) {
        IrOperation definition = definitions[register.index()];
        if (definition == null || depth == 0) {
            return 64;
        }
        return switch (definition) {
            case IrLoad load when !load.signed() -> load.width().bytes() * 8;
            case IrSwap swap -> swap.bits();
            case IrConstant constant -> 64 - Long.numberOfLeadingZeros(constant.value());
            case IrCopy copy -> significantBits(copy.from(), definitions, depth - 1);
            case IrAlu alu -> {
                int most = alu.wide() ? 64 : 32;
                int left = Math.min(most, significantBits(alu.left(), definitions, depth - 1));
                if (!(alu.right() instanceof IrNumber(long right))) {
                    yield alu.operation() == AluOperation.MOVE ? left : most;
                }
                yield switch (alu.operation()) {
                    case SHIFT_RIGHT -> Math.max(0, left - (int) (right & most - 1));
                    case AND -> Math.min(left, 64 - Long.numberOfLeadingZeros(right));
                    case REMAINDER ->
                            right > 0
                                    ? Math.min(left, 64 - Long.numberOfLeadingZeros(right))
                                    : most;
                    default -> most;
                };
            }
            default -> 64;
        };
    }
}
