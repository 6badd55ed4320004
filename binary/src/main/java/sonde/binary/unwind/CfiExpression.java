package sonde.binary.unwind;

import sonde.binary.dwarf.section.ExpressionArithmetic;
import sonde.binary.unwind.FrameStepper.StepOutcome;

/**
 * The stack machine of DWARF expressions (DWARF 5, 2.5) as call frame information may use it
 * (6.4.2): no calls, no object addresses, no pieces. Never throws; steps and depth are bounded.
 */
final class CfiExpression {
    /** Branches may go backwards: a file could loop without end. */
    private static final int MOST_STEPS = 1024;

    private static final int MOST_DEPTH = 64;

    private final UnwindMachine machine;
    private final long mask;
    private final long[] stack = new long[MOST_DEPTH];
    private int depth;
    private byte[] code = {};
    private int at;
    private long missing;
    private StepOutcome failure = StepOutcome.STEPPED;

    /** A bit for each column that expressions have read. */
    long asked;

    CfiExpression(UnwindMachine machine) {
        this.machine = machine;
        this.mask = machine.wordBytes() == 4 ? 0xffff_ffffL : -1L;
    }

    long result() {
        return stack[depth - 1] & mask;
    }

    long missingAddress() {
        return missing;
    }

    StepOutcome run(byte[] expression, RegisterValues registers, UnwindMemory memory) {
        depth = 0;
        return run(expression, registers, memory, 0);
    }

    /** With the CFA on the stack, as rules of registers begin. */
    StepOutcome run(byte[] expression, long cfa, RegisterValues registers, UnwindMemory memory) {
        stack[0] = cfa;
        depth = 1;
        return run(expression, registers, memory, 0);
    }

    private StepOutcome run(
            byte[] expression, RegisterValues registers, UnwindMemory memory, int from) {
        code = expression;
        at = from;
        failure = StepOutcome.STEPPED;
        for (int steps = 0; at < code.length; steps++) {
            if (steps == MOST_STEPS || !one(code[at++] & 0xff, registers, memory)) {
                return failure == StepOutcome.STEPPED ? StepOutcome.BAD_RULE : failure;
            }
        }
        return depth > 0 && at == code.length ? StepOutcome.STEPPED : StepOutcome.BAD_RULE;
    }

    private boolean one(int op, RegisterValues registers, UnwindMemory memory) {
        if (op >= 0x30 && op <= 0x4f) { // DW_OP_lit0..31
            return push(op - 0x30);
        }
        if (op >= 0x50 && op <= 0x6f) { // DW_OP_reg0..31: as gcc's unwinder takes it, the value
            return register(op - 0x50, 0, registers);
        }
        if (op >= 0x70 && op <= 0x8f) { // DW_OP_breg0..31
            return register(op - 0x70, sleb(), registers);
        }
        return switch (op) {
            case 0x03 -> literal(machine.wordBytes(), false); // DW_OP_addr
            case 0x06 -> deref(machine.wordBytes(), memory);
            case 0x08 -> literal(1, false); // DW_OP_const1u
            case 0x09 -> literal(1, true);
            case 0x0a -> literal(2, false);
            case 0x0b -> literal(2, true);
            case 0x0c -> literal(4, false);
            case 0x0d -> literal(4, true);
            case 0x0e, 0x0f -> literal(8, false); // DW_OP_const8u, const8s
            case 0x10 -> push(uleb()); // DW_OP_constu
            case 0x11 -> push(sleb()); // DW_OP_consts
            case 0x12 -> pick(0); // DW_OP_dup
            case 0x13 -> depth-- > 0; // DW_OP_drop
            case 0x14 -> pick(1); // DW_OP_over
            case 0x15 -> pick(byteAt()); // DW_OP_pick
            case 0x16 -> swap();
            case 0x17 -> rotate();
            case 0x19, 0x1f, 0x20 -> unary(op);
            case 0x23 -> add(uleb()); // DW_OP_plus_uconst
            case 0x28 -> branch(true); // DW_OP_bra
            case 0x2f -> branch(false); // DW_OP_skip
            case 0x90 -> register(Math.clamp(uleb(), -1, 1 << 16), 0, registers); // regx
            case 0x92 -> { // DW_OP_bregx
                int column = Math.clamp(uleb(), -1, 1 << 16);
                yield register(column, sleb(), registers);
            }
            case 0x94 -> deref(byteAt(), memory); // DW_OP_deref_size
            case 0x96 -> true; // DW_OP_nop
            default -> binary(op);
        };
    }

    private boolean push(long value) {
        if (depth == MOST_DEPTH || at > code.length) {
            return false;
        }
        stack[depth++] = value & mask;
        return true;
    }

    private boolean pick(int index) {
        return index >= 0 && index < depth && push(stack[depth - 1 - index]);
    }

    private boolean swap() {
        if (depth < 2) {
            return false;
        }
        long top = stack[depth - 1];
        stack[depth - 1] = stack[depth - 2];
        stack[depth - 2] = top;
        return true;
    }

    /** DW_OP_rot: the first becomes the third. */
    private boolean rotate() {
        if (depth < 3) {
            return false;
        }
        long top = stack[depth - 1];
        stack[depth - 1] = stack[depth - 2];
        stack[depth - 2] = stack[depth - 3];
        stack[depth - 3] = top;
        return true;
    }

    private boolean register(int column, long offset, RegisterValues registers) {
        if (!registers.has(column)) {
            failure = StepOutcome.NO_REGISTER;
            return false;
        }
        asked |= 1L << column;
        return push(registers.get(column) + offset);
    }

    private boolean deref(int sizeBytes, UnwindMemory memory) {
        boolean fits = sizeBytes == 1 || sizeBytes == 2 || sizeBytes == 4 || sizeBytes == 8;
        if (depth == 0 || !fits || sizeBytes > machine.wordBytes()) {
            return false;
        }
        long address = stack[depth - 1];
        if (!memory.has(address, sizeBytes)) {
            missing = address;
            failure = StepOutcome.NO_MEMORY;
            return false;
        }
        stack[depth - 1] = memory.read(address, sizeBytes) & mask;
        return true;
    }

    private boolean unary(int op) {
        if (depth == 0) {
            return false;
        }
        long value = stack[depth - 1];
        stack[depth - 1] = ExpressionArithmetic.unary(op, value, machine.wordBytes()) & mask;
        return true;
    }

    private boolean add(long operand) {
        if (depth == 0) {
            return false;
        }
        stack[depth - 1] = stack[depth - 1] + operand & mask;
        return true;
    }

    private boolean branch(boolean conditional) {
        int target = short16();
        if (conditional && (depth == 0 || stack[--depth] == 0)) {
            return depth >= 0 && at <= code.length;
        }
        at += target;
        return at >= 0 && at <= code.length;
    }

    private boolean binary(int op) {
        if (depth < 2) {
            return false;
        }
        long right = stack[depth - 1];
        if (!ExpressionArithmetic.isBinary(op) || ExpressionArithmetic.divides(op) && right == 0) {
            return false;
        }
        depth--;
        long left = stack[depth - 1];
        stack[depth - 1] = ExpressionArithmetic.binary(op, left, right, machine.wordBytes()) & mask;
        return true;
    }

    private int byteAt() {
        int place = at++;
        return place < code.length ? code[place] & 0xff : -1;
    }

    private int short16() {
        int low = byteAt();
        return (short) (low & 0xff | byteAt() << 8);
    }

    /** Constants are little-endian, as the machines are that this runs for, but one. */
    private boolean literal(int bytes, boolean signed) {
        if (at + bytes > code.length) {
            return false;
        }
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            int place = machine == UnwindMachine.S390X ? at + bytes - 1 - i : at + i;
            value |= (code[place] & 0xffL) << 8 * i;
        }
        at += bytes;
        int unused = 64 - 8 * bytes;
        return push(signed ? value << unused >> unused : value);
    }

    private long uleb() {
        return leb(false);
    }

    private long sleb() {
        return leb(true);
    }

    private long leb(boolean signed) {
        long value = 0;
        int shift = 0;
        int one;
        do {
            one = byteAt();
            if (one < 0) {
                return 0; // at is beyond the end: push refuses
            }
            value |= shift < 64 ? (one & 0x7fL) << shift : 0;
            shift += 7;
        } while ((one & 0x80) != 0);
        return signed && shift < 64 && (one & 0x40) != 0 ? value | -1L << shift : value;
    }
}
