package sonde.format.unwind;

import sonde.format.unwind.FrameStepper.Outcome;

/**
 * The stack machine of DWARF expressions (DWARF 5, 2.5) as call frame information may use it
 * (6.4.2): no calls, no object addresses, no pieces. Never throws; steps and depth are bounded.
 */
final class ExpressionMachine {
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
    private Outcome failure = Outcome.STEPPED;

    ExpressionMachine(UnwindMachine machine) {
        this.machine = machine;
        this.mask = machine.wordBytes() == 4 ? 0xffff_ffffL : -1L;
    }

    long result() {
        return stack[depth - 1] & mask;
    }

    long missingAddress() {
        return missing;
    }

    Outcome run(byte[] expression, Registers registers, UnwindMemory memory) {
        depth = 0;
        return run(expression, registers, memory, 0);
    }

    /** With the CFA on the stack, as rules of registers begin. */
    Outcome run(byte[] expression, long cfa, Registers registers, UnwindMemory memory) {
        stack[0] = cfa;
        depth = 1;
        return run(expression, registers, memory, 0);
    }

    private Outcome run(byte[] expression, Registers registers, UnwindMemory memory, int from) {
        code = expression;
        at = from;
        failure = Outcome.STEPPED;
        for (int steps = 0; at < code.length; steps++) {
            if (steps == MOST_STEPS || !one(code[at++] & 0xff, registers, memory)) {
                return failure == Outcome.STEPPED ? Outcome.BAD_RULE : failure;
            }
        }
        return depth > 0 && at == code.length ? Outcome.STEPPED : Outcome.BAD_RULE;
    }

    private boolean one(int op, Registers registers, UnwindMemory memory) {
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
            case 0x19, 0x1f, 0x20 -> unary(op, 0);
            case 0x23 -> unary(op, uleb()); // DW_OP_plus_uconst
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

    private boolean register(int column, long offset, Registers registers) {
        if (!registers.has(column)) {
            failure = Outcome.NO_REGISTER;
            return false;
        }
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
            failure = Outcome.NO_MEMORY;
            return false;
        }
        stack[depth - 1] = memory.read(address, sizeBytes) & mask;
        return true;
    }

    private boolean unary(int op, long operand) {
        if (depth == 0) {
            return false;
        }
        long value = signed(stack[depth - 1]);
        long result =
                switch (op) {
                    case 0x19 -> Math.abs(value); // DW_OP_abs
                    case 0x1f -> -value; // DW_OP_neg
                    case 0x20 -> ~value; // DW_OP_not
                    default -> value + operand;
                };
        stack[depth - 1] = result & mask;
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
        long left = stack[depth - 2];
        long a = signed(left);
        long b = signed(right);
        boolean wide = Long.compareUnsigned(right, 64) >= 0;
        long result;
        switch (op) {
            case 0x1a -> result = left & right; // DW_OP_and
            case 0x1b, 0x1d -> { // DW_OP_div, mod
                if (b == 0) {
                    return false;
                }
                result = op == 0x1b ? a / b : Long.remainderUnsigned(left, right);
            }
            case 0x1c -> result = a - b; // DW_OP_minus
            case 0x1e -> result = a * b; // DW_OP_mul
            case 0x21 -> result = left | right; // DW_OP_or
            case 0x22 -> result = a + b; // DW_OP_plus
            case 0x24 -> result = wide ? 0 : left << right; // DW_OP_shl
            case 0x25 -> result = wide ? 0 : left >>> right; // DW_OP_shr
            case 0x26 -> result = a >> (wide ? 63 : right); // DW_OP_shra
            case 0x27 -> result = left ^ right; // DW_OP_xor
            case 0x29 -> result = a == b ? 1 : 0; // DW_OP_eq
            case 0x2a -> result = a >= b ? 1 : 0; // DW_OP_ge
            case 0x2b -> result = a > b ? 1 : 0; // DW_OP_gt
            case 0x2c -> result = a <= b ? 1 : 0; // DW_OP_le
            case 0x2d -> result = a < b ? 1 : 0; // DW_OP_lt
            case 0x2e -> result = a != b ? 1 : 0; // DW_OP_ne
            default -> {
                return false;
            }
        }
        depth--;
        stack[depth - 1] = result & mask;
        return true;
    }

    private long signed(long value) {
        return mask == -1L ? value : (int) value;
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
