package sonde.binary.dwarf.section;

/**
 * What the operations of expressions do with numbers (DWARF 5, 2.5.1.4 and 2.5.1.5). Numbers of 32
 * bits are kept without a sign in the lower half; of a result, their lower half counts.
 */
public final class ExpressionArithmetic {
    private ExpressionArithmetic() {}

    /** Whether an operation takes two numbers from the stack and leaves one. */
    public static boolean isBinary(int op) {
        return op >= 0x1a
                && op <= 0x2e
                && op != 0x1f // neg
                && op != 0x20 // not
                && op != 0x23 // plus_uconst
                && op != 0x28; // bra
    }

    /** Whether an operation cannot be done with a second number of 0: DW_OP_div, DW_OP_mod. */
    public static boolean divides(int op) {
        return op == 0x1b || op == 0x1d;
    }

    /** A number with its sign. */
    public static long signed(long value, int sizeBytes) {
        return sizeBytes == 4 ? (int) value : value;
    }

    /** DW_OP_abs, DW_OP_neg, DW_OP_not. */
    public static long unary(int op, long value, int sizeBytes) {
        long v = signed(value, sizeBytes);
        return switch (op) {
            case 0x19 -> Math.abs(v);
            case 0x1f -> -v;
            default -> ~v;
        };
    }

    /** The result of a {@linkplain #isBinary binary} operation. */
    public static long binary(int op, long left, long right, int sizeBytes) {
        long a = signed(left, sizeBytes);
        long b = signed(right, sizeBytes);
        boolean far = Long.compareUnsigned(right, 64) >= 0;
        return switch (op) {
            case 0x1a -> left & right; // and
            case 0x1b -> a / b; // div
            case 0x1c -> a - b; // minus
            case 0x1d -> Long.remainderUnsigned(left, right); // mod
            case 0x1e -> a * b; // mul
            case 0x21 -> left | right; // or
            case 0x22 -> a + b; // plus
            case 0x24 -> far ? 0 : left << right; // shl
            case 0x25 -> far ? 0 : left >>> right; // shr
            case 0x26 -> a >> (far ? 63 : right); // shra
            case 0x27 -> left ^ right; // xor
            case 0x29 -> a == b ? 1 : 0; // eq
            case 0x2a -> a >= b ? 1 : 0; // ge
            case 0x2b -> a > b ? 1 : 0; // gt
            case 0x2c -> a <= b ? 1 : 0; // le
            case 0x2d -> a < b ? 1 : 0; // lt
            default -> a != b ? 1 : 0; // ne
        };
    }
}
