package sonde.bpf.insn;

import org.jspecify.annotations.Nullable;

/** Comparison of a jump; the code is the upper half of the opcode (RFC 9669 table 6). */
public enum JumpCondition {
    EQUAL(0x10, "=="),
    GREATER(0x20, ">"),
    GREATER_OR_EQUAL(0x30, ">="),
    /** Any common bit set. */
    ANY_BIT(0x40, "&"),
    NOT_EQUAL(0x50, "!="),
    SIGNED_GREATER(0x60, "s>"),
    SIGNED_GREATER_OR_EQUAL(0x70, "s>="),
    LESS(0xa0, "<"),
    LESS_OR_EQUAL(0xb0, "<="),
    SIGNED_LESS(0xc0, "s<"),
    SIGNED_LESS_OR_EQUAL(0xd0, "s<=");

    private static final @Nullable JumpCondition[] BY_CODE = new JumpCondition[16];

    static {
        for (JumpCondition condition : values()) {
            BY_CODE[condition.code >> 4] = condition;
        }
    }

    private final int code;
    private final String sign;

    JumpCondition(int code, String sign) {
        this.code = code;
        this.sign = sign;
    }

    int code() {
        return code;
    }

    /** As the kernel prints it: {@code "s>"}. */
    public String sign() {
        return sign;
    }

    static @Nullable JumpCondition ofOpcode(int opcode) {
        return BY_CODE[opcode >> 4 & 0xf];
    }
}
