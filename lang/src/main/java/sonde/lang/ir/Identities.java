package sonde.lang.ir;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.lang.ir.Operand.Number;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Constant;
import sonde.lang.ir.Operation.Copy;

/** Arithmetic with one known side, made cheaper. */
final class Identities {
    private static final long LOW = 0xffffffffL;

    private Identities() {}

    /** The same with fewer or cheaper instructions; the operation itself when there is none. */
    static Operation of(Alu alu) {
        if (!(alu.right() instanceof Number(long number))) {
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
    private static Operation same(Alu alu) {
        boolean both = alu.right() == alu.left();
        return switch (alu.operation()) {
            case SUBTRACT, XOR ->
                    both && alu.left().kind() == Vreg.Kind.SCALAR ? new Constant(alu.to(), 0) : alu;
            case AND, OR -> both ? unchanged(alu) : alu;
            default -> alu;
        };
    }

    private static Operation unchanged(Alu alu) {
        return alu.wide()
                ? new Copy(alu.to(), alu.left())
                : new Alu(AluOperation.MOVE, false, alu.to(), alu.left(), alu.left());
    }

    private static Alu with(Alu alu, AluOperation operation, long value) {
        return new Alu(operation, alu.wide(), alu.to(), alu.left(), Operand.of(value));
    }

    private static Alu number(Alu alu, long value) {
        return alu.right() instanceof Number(long before) && before == value
                ? alu
                : with(alu, alu.operation(), value);
    }

    private static Operation and(Alu alu, long value) {
        if (value == 0) {
            return new Constant(alu.to(), 0);
        }
        if (value == -1) {
            return unchanged(alu);
        }
        return alu.wide() && value == LOW
                ? new Alu(AluOperation.MOVE, false, alu.to(), alu.left(), alu.left())
                : number(alu, value);
    }

    private static Operation multiply(Alu alu, long value) {
        if (value == 0) {
            return new Constant(alu.to(), 0);
        }
        int bits = exponent(alu, value);
        return bits == 0
                ? unchanged(alu)
                : bits > 0 ? with(alu, AluOperation.SHIFT_LEFT, bits) : number(alu, value);
    }

    private static Operation divide(Alu alu, long value) {
        if (value == 0) {
            return new Constant(alu.to(), 0);
        }
        int bits = exponent(alu, value);
        return bits == 0
                ? unchanged(alu)
                : bits > 0 ? with(alu, AluOperation.SHIFT_RIGHT, bits) : number(alu, value);
    }

    private static Operation remainder(Alu alu, long value) {
        if (value == 0) {
            return unchanged(alu);
        }
        int bits = exponent(alu, value);
        if (bits == 0) {
            return new Constant(alu.to(), 0);
        }
        return bits > 0 && bits <= 31
                ? with(alu, AluOperation.AND, (1L << bits) - 1)
                : number(alu, value);
    }

    private static Operation signedDivide(Alu alu, long value) {
        if (value == 0) {
            return new Constant(alu.to(), 0);
        }
        return value == 1 ? unchanged(alu) : number(alu, value);
    }

    /** Which power of two it is, unsigned; -1 for none. */
    private static int exponent(Alu alu, long value) {
        long unsigned = alu.wide() ? value : value & LOW;
        return Long.bitCount(unsigned) == 1 ? Long.numberOfTrailingZeros(unsigned) : -1;
    }

    /** How many of the low bits may be set, from the operations that alone write registers. */
    static int significantBits(Vreg register, @Nullable Operation[] definitions, int depth) {
        Operation definition = definitions[register.index()];
        if (definition == null || depth == 0) {
            return 64;
        }
        return switch (definition) {
            case Operation.Load load when !load.signed() -> load.width().bytes() * 8;
            case Operation.Swap swap -> swap.bits();
            case Constant constant -> 64 - Long.numberOfLeadingZeros(constant.value());
            case Copy copy -> significantBits(copy.from(), definitions, depth - 1);
            case Alu alu -> {
                int most = alu.wide() ? 64 : 32;
                int left = Math.min(most, significantBits(alu.left(), definitions, depth - 1));
                if (!(alu.right() instanceof Number(long right))) {
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
