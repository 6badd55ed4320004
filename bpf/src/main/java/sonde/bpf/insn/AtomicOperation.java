package sonde.bpf.insn;

import org.jspecify.annotations.Nullable;

/**
 * Read, change and write of memory in one (RFC 9669 section 5.3); the code is the immediate. All
 * but the first four give the value that was there, and came with Linux 5.12.
 */
public enum AtomicOperation {
    ADD(0x00, "+="),
    OR(0x40, "|="),
    AND(0x50, "&="),
    XOR(0xa0, "^="),
    /** The source register takes what was there, as with the next four. */
    FETCH_ADD(0x01, "fetch_add"),
    FETCH_OR(0x41, "fetch_or"),
    FETCH_AND(0x51, "fetch_and"),
    FETCH_XOR(0xa1, "fetch_xor"),
    EXCHANGE(0xe1, "xchg"),
    /** Writes the source when R0 equals what was there; R0 takes what was there. */
    COMPARE_EXCHANGE(0xf1, "cmpxchg");

    private static final AtomicOperation[] ALL = values();

    private final int code;
    private final String sign;

    AtomicOperation(int code, String sign) {
        this.code = code;
        this.sign = sign;
    }

    int code() {
        return code;
    }

    /** Whether a register takes what was there. */
    public boolean fetches() {
        return (code & 1) != 0;
    }

    /** {@code "+="}, or the kernel's name behind {@code atomic_}. */
    String sign() {
        return sign;
    }

    static @Nullable AtomicOperation of(int immediate) {
        for (AtomicOperation operation : ALL) {
            if (operation.code == immediate) {
                return operation;
            }
        }
        return null;
    }
}
