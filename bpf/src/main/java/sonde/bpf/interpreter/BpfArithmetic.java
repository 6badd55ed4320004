package sonde.bpf.interpreter;

/** What Java's operators do otherwise (RFC 9669 section 4.1). */
final class BpfArithmetic {
    private static final long LOW = 0xffffffffL;

    private BpfArithmetic() {}

    static long divide(long left, long right) {
        return right == 0 ? 0 : Long.divideUnsigned(left, right);
    }

    static long remainder(long left, long right) {
        return right == 0 ? left : Long.remainderUnsigned(left, right);
    }

    static long divide32(long left, long right) {
        return (int) right == 0 ? 0 : (int) left / (int) right & LOW;
    }

    static long remainder32(long left, long right) {
        return ((int) right == 0 ? (int) left : (int) left % (int) right) & LOW;
    }

    /** Comparisons of the lower halves. */
    static boolean holds32(int op, long left, long right) {
        int a = (int) left;
        int b = (int) right;
        return switch (op - PreparedOp.JMP32 + PreparedOp.JEQ) {
            case PreparedOp.JEQ -> a == b;
            case PreparedOp.JGT -> Integer.compareUnsigned(a, b) > 0;
            case PreparedOp.JGE -> Integer.compareUnsigned(a, b) >= 0;
            case PreparedOp.JSET -> (a & b) != 0;
            case PreparedOp.JNE -> a != b;
            case PreparedOp.JSGT -> a > b;
            case PreparedOp.JSGE -> a >= b;
            case PreparedOp.JLT -> Integer.compareUnsigned(a, b) < 0;
            case PreparedOp.JLE -> Integer.compareUnsigned(a, b) <= 0;
            case PreparedOp.JSLT -> a < b;
            default -> a <= b;
        };
    }
}
