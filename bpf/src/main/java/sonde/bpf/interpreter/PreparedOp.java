package sonde.bpf.interpreter;

/**
 * Operations of the prepared program, dense for the switch that runs them. Constants are registers
 * behind the eleven, so one operation serves both kinds of right side.
 */
final class PreparedOp {
    // In the order of AluOperation, 64 bits.
    static final int ADD = 0;
    static final int SUB = 1;
    static final int MUL = 2;
    static final int DIV = 3;
    static final int OR = 4;
    static final int AND = 5;
    static final int LSH = 6;
    static final int RSH = 7;
    static final int MOD = 8;
    static final int XOR = 9;
    static final int MOV = 10;
    static final int ARSH = 11;
    static final int SDIV = 12;
    static final int SMOD = 13;

    // The same with 32 bits.
    static final int ALU32 = 14;

    // In the order of Condition, 64 bits.
    static final int JEQ = 28;
    static final int JGT = 29;
    static final int JGE = 30;
    static final int JSET = 31;
    static final int JNE = 32;
    static final int JSGT = 33;
    static final int JSGE = 34;
    static final int JLT = 35;
    static final int JLE = 36;
    static final int JSLT = 37;
    static final int JSLE = 38;

    // The same with 32 bits.
    static final int JMP32 = 39;

    static final int NEG = 50;
    static final int NEG32 = 51;
    static final int SIGN8 = 52;
    static final int SIGN16 = 53;
    static final int SIGN32 = 54;
    static final int SIGN8_32 = 55;
    static final int SIGN16_32 = 56;
    static final int SWAP16 = 57;
    static final int SWAP32 = 58;
    static final int SWAP64 = 59;
    static final int ZERO16 = 60;
    static final int ZERO32 = 61;
    static final int NOTHING = 62;

    /** A constant of two slots: moves and goes on at the offset. */
    static final int WIDE = 63;

    static final int LOAD8 = 64;
    static final int LOAD16 = 65;
    static final int LOAD32 = 66;
    static final int LOAD64 = 67;
    static final int LOAD8_SIGNED = 68;
    static final int LOAD16_SIGNED = 69;
    static final int LOAD32_SIGNED = 70;
    static final int STORE8 = 71;
    static final int STORE16 = 72;
    static final int STORE32 = 73;
    static final int STORE64 = 74;
    static final int ATOMIC = 75;
    static final int GOTO = 76;
    static final int CALL = 77;
    static final int CALL_LOCAL = 78;
    static final int CALL_KERNEL = 79;
    static final int EXIT = 80;
    static final int MAY_GOTO = 81;
    static final int PACKET8 = 82;
    static final int PACKET16 = 83;
    static final int PACKET32 = 84;

    /** A word that does not run. */
    static final int BAD = 85;

    /** Behind the last slot. */
    static final int OUTSIDE = 86;

    private PreparedOp() {}

    /** Operation 8 bits, destination 4, source 20, offset or target 32. */
    static long word(int op, int to, int from, int offset) {
        return op | (long) to << 8 | (long) from << 12 | (long) offset << 32;
    }

    static int op(long word) {
        return (int) word & 0xff;
    }

    static int to(long word) {
        return (int) word >>> 8 & 0xf;
    }

    static int from(long word) {
        return (int) word >>> 12;
    }

    static int offset(long word) {
        return (int) (word >> 32);
    }
}
