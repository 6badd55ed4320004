package sonde.bpf.insn;

/** Arithmetic with two operands; the code is the upper half of the opcode (RFC 9669 table 4). */
public enum AluOperation {
    ADD("+="),
    SUBTRACT("-="),
    MULTIPLY("*="),
    DIVIDE("/="),
    OR("|="),
    AND("&="),
    SHIFT_LEFT("<<="),
    SHIFT_RIGHT(">>="),
    /** Negation has one operand and is not modelled as this. */
    NEGATE("neg"),
    REMAINDER("%="),
    XOR("^="),
    MOVE("="),
    SHIFT_RIGHT_SIGNED("s>>=");

    private static final AluOperation[] ALL = values();

    private final String sign;

    AluOperation(String sign) {
        this.sign = sign;
    }

    int code() {
        return ordinal() << 4;
    }

    /** As the kernel prints it: {@code "+="}. */
    String sign() {
        return sign;
    }

    /** Number of operations known. */
    static int count() {
        return ALL.length;
    }

    static AluOperation of(int number) {
        return ALL[number];
    }
}
