package sonde.lang.bpftrace.syntax;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operators with two operands, all left-associative. */
public enum BinaryOperator {
    LOGICAL_OR("||", 1),
    LOGICAL_AND("&&", 2),
    OR("|", 3),
    XOR("^", 4),
    AND("&", 5),
    EQUAL("==", 6),
    NOT_EQUAL("!=", 6),
    LESS("<", 7),
    LESS_OR_EQUAL("<=", 7),
    GREATER(">", 7),
    GREATER_OR_EQUAL(">=", 7),
    SHIFT_LEFT("<<", 8),
    SHIFT_RIGHT(">>", 8),
    ADD("+", 9),
    SUBTRACT("-", 9),
    MULTIPLY("*", 10),
    DIVIDE("/", 10),
    MODULO("%", 10);

    private static final Map<String, BinaryOperator> BY_SIGN = new HashMap<>();

    static {
        for (BinaryOperator operator : values()) {
            BY_SIGN.put(operator.sign, operator);
        }
    }

    private final String sign;
    private final int precedence;

    BinaryOperator(String sign, int precedence) {
        this.sign = sign;
        this.precedence = precedence;
    }

    /** The operator written so; null for none. */
    static @Nullable BinaryOperator of(String sign) {
        return BY_SIGN.get(sign);
    }

    /** The operator of a compound assignment ({@code +=}); null when it is none. */
    static @Nullable BinaryOperator ofAssignment(String sign) {
        boolean compound = sign.length() > 1 && sign.endsWith("=");
        BinaryOperator operator = compound ? of(sign.substring(0, sign.length() - 1)) : null;
        return operator == null || operator.precedence < 3 || operator.isComparison()
                ? null
                : operator;
    }

    /** As it is written. */
    public String sign() {
        return sign;
    }

    /** How tightly it binds: 10 most, 1 least. */
    public int precedence() {
        return precedence;
    }

    /** Whether its value is a truth. */
    public boolean isComparison() {
        return precedence == 6 || precedence == 7;
    }
}
