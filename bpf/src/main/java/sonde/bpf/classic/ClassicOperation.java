package sonde.bpf.classic;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;

/** Arithmetic on A, 32 bits unsigned; the code is the upper half of the opcode. */
public enum ClassicOperation {
    ADD(0x00, "add", AluOperation.ADD),
    SUB(0x10, "sub", AluOperation.SUBTRACT),
    MUL(0x20, "mul", AluOperation.MULTIPLY),
    /** By X = 0 drops the packet, as MOD. */
    DIV(0x30, "div", AluOperation.DIVIDE),
    OR(0x40, "or", AluOperation.OR),
    AND(0x50, "and", AluOperation.AND),
    /** Shifts by X take its low 5 bits, as the kernel does. */
    LSH(0x60, "lsh", AluOperation.SHIFT_LEFT),
    RSH(0x70, "rsh", AluOperation.SHIFT_RIGHT),
    MOD(0x90, "mod", AluOperation.REMAINDER),
    XOR(0xa0, "xor", AluOperation.XOR);

    private static final ClassicOperation[] ALL = values();

    private final int code;
    private final String label;
    private final AluOperation extended;

    ClassicOperation(int code, String label, AluOperation extended) {
        this.code = code;
        this.label = label;
        this.extended = extended;
    }

    int code() {
        return code;
    }

    /** As tcpdump prints it. */
    String label() {
        return label;
    }

    AluOperation extended() {
        return extended;
    }

    /** Whether tcpdump prints its constant in hexadecimal. */
    boolean isBitwise() {
        return this == OR || this == AND || this == XOR;
    }

    static @Nullable ClassicOperation ofOpcode(int opcode) {
        for (ClassicOperation operation : ALL) {
            if (operation.code == (opcode & 0xf0)) {
                return operation;
            }
        }
        return null;
    }

    int apply(int a, int right) {
        return switch (this) {
            case ADD -> a + right;
            case SUB -> a - right;
            case MUL -> a * right;
            case DIV -> Integer.divideUnsigned(a, right);
            case OR -> a | right;
            case AND -> a & right;
            case LSH -> a << right;
            case RSH -> a >>> right;
            case MOD -> Integer.remainderUnsigned(a, right);
            case XOR -> a ^ right;
        };
    }
}
