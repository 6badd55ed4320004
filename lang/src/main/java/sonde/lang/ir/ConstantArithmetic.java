package sonde.lang.ir;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;

/** Operations on known numbers, as the machine does them (RFC 9669 section 4.1). */
final class ConstantArithmetic {
    private static final long LOW = 0xffffffffL;

    private ConstantArithmetic() {}

    /** {@code left operation right}. */
    static long of(AluOperation operation, boolean wide, long left, long right) {
        return wide ? wide(operation, left, right) : narrow(operation, (int) left, (int) right);
    }

    private static long wide(AluOperation operation, long a, long b) {
        return switch (operation) {
            case ADD -> a + b;
            case SUBTRACT -> a - b;
            case MULTIPLY -> a * b;
            case DIVIDE -> b == 0 ? 0 : Long.divideUnsigned(a, b);
            case OR -> a | b;
            case AND -> a & b;
            case SHIFT_LEFT -> a << b;
            case SHIFT_RIGHT -> a >>> b;
            case REMAINDER -> b == 0 ? a : Long.remainderUnsigned(a, b);
            case XOR -> a ^ b;
            case MOVE -> b;
            case SHIFT_RIGHT_SIGNED -> a >> b;
            case SIGNED_DIVIDE -> b == 0 ? 0 : a / b;
            case SIGNED_REMAINDER -> b == 0 ? a : a % b;
        };
    }

    private static long narrow(AluOperation operation, int a, int b) {
        int result =
                switch (operation) {
                    case ADD -> a + b;
                    case SUBTRACT -> a - b;
                    case MULTIPLY -> a * b;
                    case DIVIDE -> b == 0 ? 0 : Integer.divideUnsigned(a, b);
                    case OR -> a | b;
                    case AND -> a & b;
                    case SHIFT_LEFT -> a << b;
                    case SHIFT_RIGHT -> a >>> b;
                    case REMAINDER -> b == 0 ? a : Integer.remainderUnsigned(a, b);
                    case XOR -> a ^ b;
                    case MOVE -> b;
                    case SHIFT_RIGHT_SIGNED -> a >> b;
                    case SIGNED_DIVIDE -> b == 0 ? 0 : a / b;
                    case SIGNED_REMAINDER -> b == 0 ? a : a % b;
                };
        return result & LOW;
    }

    /** Whether {@code left condition right}. */
    static boolean holds(JumpCondition condition, boolean wide, long left, long right) {
        // With their signs the lower halves compare as they do alone, also unsigned.
        long a = wide ? left : (int) left;
        long b = wide ? right : (int) right;
        return switch (condition) {
            case EQUAL -> a == b;
            case GREATER -> Long.compareUnsigned(a, b) > 0;
            case GREATER_OR_EQUAL -> Long.compareUnsigned(a, b) >= 0;
            case ANY_BIT -> (a & b) != 0;
            case NOT_EQUAL -> a != b;
            case SIGNED_GREATER -> a > b;
            case SIGNED_GREATER_OR_EQUAL -> a >= b;
            case LESS -> Long.compareUnsigned(a, b) < 0;
            case LESS_OR_EQUAL -> Long.compareUnsigned(a, b) <= 0;
            case SIGNED_LESS -> a < b;
            case SIGNED_LESS_OR_EQUAL -> a <= b;
        };
    }

    /** The low bits with their sign. */
    static long signExtend(int bits, long value) {
        return value << 64 - bits >> 64 - bits;
    }

    /** The low bits with their bytes in the other order, zero above. */
    static long swap(int bits, long value) {
        return Long.reverseBytes(value) >>> 64 - bits;
    }

    /** Whether the sides may change places. */
    static boolean isCommutative(AluOperation operation) {
        return switch (operation) {
            case ADD, MULTIPLY, OR, AND, XOR -> true;
            case SUBTRACT,
                    DIVIDE,
                    SHIFT_LEFT,
                    SHIFT_RIGHT,
                    REMAINDER,
                    MOVE,
                    SHIFT_RIGHT_SIGNED,
                    SIGNED_DIVIDE,
                    SIGNED_REMAINDER ->
                    false;
        };
    }

    /** The condition with the sides in each other's places. */
    static JumpCondition mirrored(JumpCondition condition) {
        return switch (condition) {
            case EQUAL, NOT_EQUAL, ANY_BIT -> condition;
            case GREATER -> JumpCondition.LESS;
            case GREATER_OR_EQUAL -> JumpCondition.LESS_OR_EQUAL;
            case LESS -> JumpCondition.GREATER;
            case LESS_OR_EQUAL -> JumpCondition.GREATER_OR_EQUAL;
            case SIGNED_GREATER -> JumpCondition.SIGNED_LESS;
            case SIGNED_GREATER_OR_EQUAL -> JumpCondition.SIGNED_LESS_OR_EQUAL;
            case SIGNED_LESS -> JumpCondition.SIGNED_GREATER;
            case SIGNED_LESS_OR_EQUAL -> JumpCondition.SIGNED_GREATER_OR_EQUAL;
        };
    }

    /** Whether a condition has an opposite; "any bit" has none. */
    static boolean hasOpposite(JumpCondition condition) {
        return condition != JumpCondition.ANY_BIT;
    }

    /** What holds when the condition does not. */
    static JumpCondition opposite(JumpCondition condition) {
        return switch (condition) {
            case EQUAL -> JumpCondition.NOT_EQUAL;
            case NOT_EQUAL -> JumpCondition.EQUAL;
            case GREATER -> JumpCondition.LESS_OR_EQUAL;
            case GREATER_OR_EQUAL -> JumpCondition.LESS;
            case LESS -> JumpCondition.GREATER_OR_EQUAL;
            case LESS_OR_EQUAL -> JumpCondition.GREATER;
            case SIGNED_GREATER -> JumpCondition.SIGNED_LESS_OR_EQUAL;
            case SIGNED_GREATER_OR_EQUAL -> JumpCondition.SIGNED_LESS;
            case SIGNED_LESS -> JumpCondition.SIGNED_GREATER_OR_EQUAL;
            case SIGNED_LESS_OR_EQUAL -> JumpCondition.SIGNED_GREATER;
            case ANY_BIT -> throw new IllegalArgumentException("no condition is its opposite");
        };
    }
}
