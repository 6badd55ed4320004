package sonde.bpf.interpreter;

/** What Java's operators do otherwise (RFC 9669 section 4.1). */
final class Arithmetic {
    private static final long LOW = 0xffffffffL;

    private Arithmetic() {}

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
        return switch (op - Op.JMP32 + Op.JEQ) {
            case Op.JEQ -> a == b;
            case Op.JGT -> Integer.compareUnsigned(a, b) > 0;
            case Op.JGE -> Integer.compareUnsigned(a, b) >= 0;
            case Op.JSET -> (a & b) != 0;
            case Op.JNE -> a != b;
            case Op.JSGT -> a > b;
            case Op.JSGE -> a >= b;
            case Op.JLT -> Integer.compareUnsigned(a, b) < 0;
            case Op.JLE -> Integer.compareUnsigned(a, b) <= 0;
            case Op.JSLT -> a < b;
            default -> a <= b;
        };
    }
}
