package sonde.bpf.insn;

import org.jspecify.annotations.Nullable;

/**
 * Arithmetic with two operands; the code is the upper half of the opcode (RFC 9669 table 4), the
 * variant the offset field, which tells signed from unsigned division (v4, Linux 6.6).
 */
public enum AluOperation {
    ADD(0x00, 0, "+="),
    SUBTRACT(0x10, 0, "-="),
    MULTIPLY(0x20, 0, "*="),
    /** By zero gives 0. */
    DIVIDE(0x30, 0, "/="),
    OR(0x40, 0, "|="),
    AND(0x50, 0, "&="),
    SHIFT_LEFT(0x60, 0, "<<="),
    SHIFT_RIGHT(0x70, 0, ">>="),
    /** By zero leaves the left side, its upper half zero in 32 bits. */
    REMAINDER(0x90, 0, "%="),
    XOR(0xa0, 0, "^="),
    MOVE(0xb0, 0, "="),
    SHIFT_RIGHT_SIGNED(0xc0, 0, "s>>="),
    /** Rounds towards zero; the smallest number by -1 is itself. */
    SIGNED_DIVIDE(0x30, 1, "s/="),
    /** Has the sign of the left side. */
    SIGNED_REMAINDER(0x90, 1, "s%=");

    private static final @Nullable AluOperation[][] BY_VARIANT = new AluOperation[2][16];

    static {
        for (AluOperation operation : values()) {
            BY_VARIANT[operation.variant][operation.code >> 4] = operation;
        }
    }

    private final int code;
    private final int variant;
    private final String sign;

    AluOperation(int code, int variant, String sign) {
        this.code = code;
        this.variant = variant;
        this.sign = sign;
    }

    int code() {
        return code;
    }

    /** The offset field: 1 when signed, else 0. */
    int variant() {
        return variant;
    }

    /** As the kernel prints it: {@code "+="}. */
    public String sign() {
        return sign;
    }

    static @Nullable AluOperation of(int opcode, int variant) {
        return variant < 0 || variant > 1 ? null : BY_VARIANT[variant][opcode >> 4 & 0xf];
    }
}
