package sonde.binary.unwind;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** How the caller's registers are found from those of a frame, at one place of the code. */
public final class FrameRule {
    /** Not recoverable; of the return address: there is no caller (DWARF 5, 6.4.4). */
    static final byte UNDEFINED = 0;

    static final byte SAME = 1;

    /** Saved at CFA + operand. */
    static final byte OFFSET = 2;

    /** Is CFA + operand. */
    static final byte VAL_OFFSET = 3;

    /** Is in the register named by the operand. */
    static final byte REGISTER = 4;

    /** Saved at the address that the expression gives. */
    static final byte EXPRESSION = 5;

    /** Is what the expression gives. */
    static final byte VAL_EXPRESSION = 6;

    static final byte[] NO_EXPRESSION = {};

    final int cfaRegister;
    final long cfaOffset;
    final byte[] cfaExpression;
    final int[] columns;
    final byte[] kinds;
    final long[] operands;
    final byte[][] expressions;
    final int returnColumn;
    private final boolean signalFrame;
    private final boolean otherStack;
    private final int hash;

    private FrameRule(Builder made) {
        cfaRegister = made.cfaRegister;
        cfaOffset = made.cfaOffset;
        cfaExpression = made.cfaExpression;
        int count = 0;
        for (byte kind : made.kinds) {
            count += kind == Builder.NO_RULE ? 0 : 1;
        }
        columns = new int[count];
        kinds = new byte[count];
        operands = new long[count];
        expressions = new byte[count][];
        int at = 0;
        for (int column = 0; column < made.kinds.length; column++) {
            if (made.kinds[column] != Builder.NO_RULE) {
                columns[at] = column;
                kinds[at] = made.kinds[column];
                operands[at] = made.operands[column];
                expressions[at++] = made.expressions[column];
            }
        }
        returnColumn = made.returnColumn;
        signalFrame = made.signalFrame;
        otherStack = false;
        hash = hash();
    }

    private FrameRule(FrameRule rule, int register) {
        cfaRegister = register;
        cfaOffset = rule.cfaOffset;
        cfaExpression = rule.cfaExpression;
        columns = rule.columns;
        kinds = rule.kinds;
        operands = rule.operands;
        expressions = rule.expressions;
        returnColumn = rule.returnColumn;
        signalFrame = rule.signalFrame;
        otherStack = true;
        hash = hash();
    }

    /**
     * The rule of a frame on another stack than the one that runs.
     *
     * @param register that has the stack pointer of that stack; -1 when none has it
     */
    FrameRule onStackAt(int register) {
        return new FrameRule(this, register);
    }

    /** A rule that no address has: for frames whose caller was found without one. */
    public static FrameRule none() {
        return new Builder(UnwindMachine.X86_64).build();
    }

    /** The register, by DWARF's number, that the CFA is counted from; -1 for an expression. */
    public int cfaRegister() {
        return cfaExpression.length > 0 ? -1 : cfaRegister;
    }

    /** What is added to that register. */
    public long cfaOffset() {
        return cfaOffset;
    }

    /** Whether the caller was interrupted by a signal, and did not call. */
    public boolean isSignalFrame() {
        return signalFrame;
    }

    /** Whether the frame may lie on another stack than the one that runs. */
    public boolean isOnOtherStack() {
        return otherStack;
    }

    private int hash() {
        int value = cfaRegister * 31 + Long.hashCode(cfaOffset);
        value = value * 31 + Arrays.hashCode(cfaExpression);
        value = value * 31 + Arrays.hashCode(columns);
        value = value * 31 + Arrays.hashCode(kinds);
        value = value * 31 + Arrays.hashCode(operands);
        value = value * 31 + Arrays.deepHashCode(expressions);
        return value * 31 + returnColumn + (signalFrame ? 1 : 0) + (otherStack ? 2 : 0);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof FrameRule rule
                && hash == rule.hash
                && cfaRegister == rule.cfaRegister
                && cfaOffset == rule.cfaOffset
                && returnColumn == rule.returnColumn
                && signalFrame == rule.signalFrame
                && otherStack == rule.otherStack
                && Arrays.equals(cfaExpression, rule.cfaExpression)
                && Arrays.equals(columns, rule.columns)
                && Arrays.equals(kinds, rule.kinds)
                && Arrays.equals(operands, rule.operands)
                && Arrays.deepEquals(expressions, rule.expressions);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** {@code "cfa=r7+16 r6=[cfa-16] r16=[cfa-8]"}, for listings and tests. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("cfa=");
        if (cfaExpression.length > 0) {
            text.append("expr(").append(cfaExpression.length).append(')');
        } else {
            text.append('r').append(cfaRegister).append(signed(cfaOffset));
        }
        for (int i = 0; i < columns.length; i++) {
            text.append(" r").append(columns[i]).append('=');
            switch (kinds[i]) {
                case UNDEFINED -> text.append('u');
                case SAME -> text.append('s');
                case OFFSET -> text.append("[cfa").append(signed(operands[i])).append(']');
                case VAL_OFFSET -> text.append("cfa").append(signed(operands[i]));
                case REGISTER -> text.append('r').append(operands[i]);
                case EXPRESSION -> text.append("[expr]");
                default -> text.append("expr");
            }
        }
        text.append(otherStack ? " other stack" : "");
        return signalFrame ? text.append(" signal").toString() : text.toString();
    }

    private static String signed(long value) {
        return value < 0 ? Long.toString(value) : "+" + value;
    }

    /** A rule that is being made; {@link #build} may be called again and again. */
    static final class Builder {
        static final byte NO_RULE = -1;

        int cfaRegister;
        long cfaOffset;
        byte[] cfaExpression = NO_EXPRESSION;
        final byte[] kinds;
        final long[] operands;
        final byte[][] expressions;
        int returnColumn;
        boolean signalFrame;

        Builder(UnwindMachine machine) {
            kinds = new byte[machine.columns()];
            operands = new long[machine.columns()];
            expressions = new byte[machine.columns()][];
            returnColumn = machine.returnColumn();
            Arrays.fill(kinds, NO_RULE);
            Arrays.fill(expressions, NO_EXPRESSION);
        }

        Builder cfa(int register, long offset) {
            cfaRegister = register;
            cfaOffset = offset;
            cfaExpression = NO_EXPRESSION;
            return this;
        }

        Builder cfa(byte[] expression) {
            cfaRegister = -1;
            cfaOffset = 0;
            cfaExpression = expression;
            return this;
        }

        Builder rule(int column, byte kind, long operand) {
            return rule(column, kind, operand, NO_EXPRESSION);
        }

        Builder rule(int column, byte kind, long operand, byte[] expression) {
            if (column >= 0 && column < kinds.length) {
                kinds[column] = kind;
                operands[column] = operand;
                expressions[column] = expression;
            }
            return this;
        }

        void copy(Builder other) {
            cfaRegister = other.cfaRegister;
            cfaOffset = other.cfaOffset;
            cfaExpression = other.cfaExpression;
            copyRules(other);
        }

        void copyRules(Builder other) {
            System.arraycopy(other.kinds, 0, kinds, 0, kinds.length);
            System.arraycopy(other.operands, 0, operands, 0, operands.length);
            System.arraycopy(other.expressions, 0, expressions, 0, expressions.length);
        }

        FrameRule build() {
            return new FrameRule(this);
        }
    }
}
