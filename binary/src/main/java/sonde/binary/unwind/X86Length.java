package sonde.binary.unwind;

/** Where an instruction of x86-64 ends, and its parts that move the stack (Intel SDM 2, 2.1). */
final class X86Length {
    private static final int MOST_BYTES = 15;
    private static final int ESCAPE = 0x0f;
    static final int TWO = 0x100;
    static final int INVALID = -1;

    private final byte[] code;

    /** Opcode, with {@link #TWO} behind 0x0f; {@link #INVALID}. */
    int opcode;

    /** -1 without one. */
    int modrm;

    int rex;
    int displacement;

    /** The immediate or relative operand of up to 32 bits, sign-extended. */
    int immediate;

    /** Behind the instruction. */
    int next;

    private int at;
    private boolean narrow;

    X86Length(byte[] code) {
        this.code = code;
    }

    /** Reads the instruction at a place; whether it is one. */
    boolean read(int start) {
        at = start;
        opcode = INVALID;
        modrm = -1;
        rex = 0;
        displacement = 0;
        immediate = 0;
        narrow = false;
        try {
            int b = u8();
            while (isPrefix(b) && at - start < MOST_BYTES) {
                narrow |= b == 0x66;
                rex = b >> 4 == 4 ? b : 0;
                b = u8();
            }
            body(b);
        } catch (ArrayIndexOutOfBoundsException e) {
            opcode = INVALID;
        }
        next = at;
        return opcode != INVALID && at - start <= MOST_BYTES;
    }

    private static boolean isPrefix(int b) {
        return switch (b) {
            case 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65 -> true;
            default -> b >> 4 == 4;
        };
    }

    private int u8() {
        return code[at++] & 0xff;
    }

    private void body(int b) {
        if (b == 0xc5 || b == 0xc4 || b == 0x62) { // VEX, EVEX
            int map = b == 0xc5 ? 1 : u8() & (b == 0x62 ? 7 : 31);
            at += b == 0x62 ? 2 : 1;
            int op = u8();
            opcode = 0x1000;
            if (map != 1 || op != 0x77) {
                modrm();
            }
            immediate(map == 3 || map == 1 && hasByte(op) ? 1 : 0);
        } else if (b == ESCAPE) {
            two(u8());
        } else {
            one(b);
        }
    }

    private static boolean hasByte(int op) {
        return op >= 0x70 && op <= 0x73
                || op == 0xa4
                || op == 0xac
                || op == 0xba
                || op == 0xc2
                || op >= 0xc4 && op <= 0xc6;
    }

    private void two(int op) {
        opcode = TWO | op;
        if (op == 0x38 || op == 0x3a) {
            at++;
            modrm();
            immediate(op == 0x3a ? 1 : 0);
        } else if (op >> 4 == 8) {
            immediate(4);
        } else {
            boolean alone =
                    op >= 0x05 && op <= 0x0c && op != 0x0a
                            || op == 0x0e
                            || op >> 3 == 6
                            || op == 0x77
                            || (op & 0xf7) >= 0xa0 && (op & 0xf7) <= 0xa2
                            || op >> 3 == 0x19;
            if (!alone) {
                modrm();
            }
            immediate(hasByte(op) ? 1 : 0);
        }
    }

    private void one(int op) {
        opcode = op;
        int wide = narrow ? 2 : 4;
        if (op < 0x40) {
            switch (op & 7) {
                case 4 -> immediate(1);
                case 5 -> immediate(wide);
                case 6, 7 -> opcode = INVALID;
                default -> modrm();
            }
            return;
        }
        switch (op) {
            case 0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea -> opcode = INVALID;
            case 0x68, 0xa9 -> immediate(wide);
            case 0x69, 0x81, 0xc7 -> modrm(wide);
            case 0x6a, 0xa8, 0xcd, 0xeb, 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7 ->
                    immediate(1);
            case 0x6b, 0x80, 0x83, 0xc0, 0xc1, 0xc6 -> modrm(1);
            case 0xa0, 0xa1, 0xa2, 0xa3 -> at += 8;
            case 0xc2, 0xca -> immediate(2);
            case 0xc8 -> at += 3;
            case 0xe8, 0xe9 -> immediate(4);
            case 0x63, 0xd0, 0xd1, 0xd2, 0xd3, 0xfe, 0xff -> modrm();
            case 0xf6, 0xf7 -> {
                modrm();
                boolean test = (modrm >> 3 & 6) == 0;
                immediate(!test ? 0 : op == 0xf6 ? 1 : wide);
            }
            default -> {
                if (op >> 4 == 7 || op >> 3 == 0x16) {
                    immediate(1);
                } else if (op >> 3 == 0x17) {
                    boolean eight = (rex & 8) != 0;
                    immediate(eight ? 0 : wide);
                    at += eight ? 8 : 0;
                } else if (op >= 0x84 && op <= 0x8f || op >= 0xd8 && op <= 0xdf) {
                    modrm();
                }
            }
        }
    }

    private void modrm(int immediateBytes) {
        modrm();
        immediate(immediateBytes);
    }

    private void modrm() {
        modrm = u8();
        int mod = modrm >> 6;
        if (mod == 3) {
            return;
        }
        int base = modrm & 7;
        if (base == 4) {
            base = u8() & 7;
            displacement(mod == 0 && base == 5 ? 4 : mod == 1 ? 1 : mod == 2 ? 4 : 0);
        } else {
            displacement(mod == 0 && base == 5 ? 4 : mod == 1 ? 1 : mod == 2 ? 4 : 0);
        }
    }

    private void displacement(int bytes) {
        displacement = number(bytes);
    }

    private void immediate(int bytes) {
        immediate = number(bytes);
    }

    private int number(int bytes) {
        int value = 0;
        for (int i = 0; i < bytes; i++) {
            value |= (code[at + i] & 0xff) << 8 * i;
        }
        at += bytes;
        return bytes == 0 || bytes == 4 ? value : value << 32 - 8 * bytes >> 32 - 8 * bytes;
    }

    /** Whether the memory operand is {@code displacement(%rip)}. */
    boolean isRelative() {
        return modrm >> 6 == 0 && (modrm & 7) == 5;
    }

    /** Whether the memory operand is {@code displacement(%rsp)}. */
    boolean isBasedOnStack() {
        return modrm >= 0 && modrm >> 6 != 3 && (modrm & 7) == 4;
    }
}
