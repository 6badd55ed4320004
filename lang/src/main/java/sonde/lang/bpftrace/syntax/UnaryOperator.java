package sonde.lang.bpftrace.syntax;

/** Operators with one operand. */
public enum UnaryOperator {
    NEGATE("-"),
    /** 1 for 0 or null, else 0. */
    NOT("!"),
    COMPLEMENT("~"),
    DEREFERENCE("*"),
    /** The operand is a variable or a map. */
    ADDRESS("&"),
    PRE_INCREMENT("++"),
    PRE_DECREMENT("--"),
    POST_INCREMENT("++"),
    POST_DECREMENT("--");

    private final String sign;

    UnaryOperator(String sign) {
        this.sign = sign;
    }

    /** As it is written. */
    public String sign() {
        return sign;
    }

    /** Whether it stands behind its operand. */
    public boolean isPostfix() {
        return this == POST_INCREMENT || this == POST_DECREMENT;
    }

    /** Whether it changes its operand. */
    public boolean assigns() {
        return sign.length() == 2;
    }
}
