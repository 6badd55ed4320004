package sonde.bpf.classic;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.JumpCondition;

/** Comparisons of A, unsigned; the code is the upper half of the opcode. */
public enum ClassicCondition {
    EQUAL(0x10, "jeq", JumpCondition.EQUAL, JumpCondition.NOT_EQUAL),
    GREATER(0x20, "jgt", JumpCondition.GREATER, JumpCondition.LESS_OR_EQUAL),
    GREATER_OR_EQUAL(0x30, "jge", JumpCondition.GREATER_OR_EQUAL, JumpCondition.LESS),
    ANY_BIT(0x40, "jset", JumpCondition.ANY_BIT, null);

    private static final ClassicCondition[] ALL = values();

    private final int code;
    private final String label;
    private final JumpCondition extended;
    private final @Nullable JumpCondition opposite;

    ClassicCondition(
            int code, String label, JumpCondition extended, @Nullable JumpCondition opposite) {
        this.code = code;
        this.label = label;
        this.extended = extended;
        this.opposite = opposite;
    }

    int code() {
        return code;
    }

    String label() {
        return label;
    }

    JumpCondition extended() {
        return extended;
    }

    /** What holds when this does not; null when eBPF has no such comparison. */
    @Nullable JumpCondition opposite() {
        return opposite;
    }

    static @Nullable ClassicCondition ofOpcode(int opcode) {
        for (ClassicCondition condition : ALL) {
            if (condition.code == (opcode & 0xf0)) {
                return condition;
            }
        }
        return null;
    }

    boolean holds(int a, int right) {
        return switch (this) {
            case EQUAL -> a == right;
            case GREATER -> Integer.compareUnsigned(a, right) > 0;
            case GREATER_OR_EQUAL -> Integer.compareUnsigned(a, right) >= 0;
            case ANY_BIT -> (a & right) != 0;
        };
    }
}
