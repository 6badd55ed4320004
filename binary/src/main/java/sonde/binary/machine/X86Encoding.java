package sonde.binary.machine;

import org.jspecify.annotations.Nullable;
import sonde.binary.machine.X86Forms.X86Form;

/** The fields of an instruction's bytes up to the ModR/M byte, and how far they were read. */
final class X86Encoding {
    static final int B = 1;
    static final int X = 2;
    static final int R = 4;
    static final int W = 8;

    final byte[] code;
    final int start;
    final int end;
    final int mode;
    int at;

    /** Prefixes before the opcode, VEX and EVEX not counted. */
    int prefixCount;

    /** Bit by position of a prefix that the instruction means. */
    int used;

    /** Set when the prefixes stand alone: a REX prefix before another prefix. */
    boolean alone;

    int repz = -1;
    int repnz = -1;
    int lock = -1;
    int segment = -1;

    /** The segment prefix that memory operands use. */
    int override = -1;

    int data = -1;
    int addr = -1;
    int rexAt = -1;
    int fwait = -1;
    int notrack = -1;
    int rex;
    int rexUsed;

    /** {@link X86Forms#LEGACY} and its companions. */
    int encoding;

    int map;
    int op;
    int modrm = -1;

    /** Offset behind the opcode. */
    int opcodeEnd;

    /** VEX and EVEX. */
    int mandatory;

    int vvvv;
    int length;
    int mask;
    boolean zeroing;
    boolean broadcast;
    boolean highR;

    X86Encoding(byte[] code, int start, int end, int mode) {
        this.code = code;
        this.start = start;
        this.end = Math.min(end, start + MachineDecoder.MAX_LENGTH);
        this.mode = mode;
        at = start;
    }

    int next() {
        if (at >= end) {
            throw new IndexOutOfBoundsException();
        }
        return code[at++] & 0xff;
    }

    private int peek() {
        return at < end ? code[at] & 0xff : -1;
    }

    void use(int prefix) {
        if (prefix >= 0) {
            used |= 1 << prefix;
        }
    }

    void useRex(int bits) {
        if (bits == 0 || (rex & bits) != 0) {
            rexUsed |= rex & bits | 0x40;
        }
    }

    void prefixes() {
        for (; at < end; at++) {
            int b = code[at] & 0xff;
            int i = at - start;
            switch (b) {
                case 0xf3 -> repz = i;
                case 0xf2 -> repnz = i;
                case 0xf0 -> lock = i;
                case 0x64, 0x65 -> {
                    segment = i;
                    override = i;
                }
                case 0x26, 0x2e, 0x36, 0x3e -> {
                    segment = i;
                    override = mode == 64 ? override : i;
                }
                case 0x66 -> data = i;
                case 0x67 -> addr = i;
                case 0x9b -> {
                    int following = at + 1 < end ? code[at + 1] & 0xff : 0;
                    if (i > 0 || following < 0xd8 || following > 0xdf) {
                        prefixCount = i;
                        return;
                    }
                    fwait = i;
                }
                default -> {
                    if (mode != 64 || b >> 4 != 4) {
                        prefixCount = i;
                        return;
                    }
                    rex = b;
                    rexAt = i;
                    prefixCount = i + 1;
                    at++;
                    alone = isPrefix(peek());
                    return;
                }
            }
        }
        prefixCount = at - start;
        alone = true;
    }

    private static boolean isPrefix(int b) {
        return switch (b) {
            case 0xf3, 0xf2, 0xf0, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0x9b -> true;
            default -> b >> 4 == 4;
        };
    }

    void opcode() {
        op = next();
        int following = peek();
        boolean vector = mode == 64 || following >= 0xc0;
        if (op == 0xc5 && vector) {
            vex(0x61 | following & 0x80, next() & 0x7f, false);
        } else if (op == 0xc4 && vector) {
            vex(next(), next(), false);
        } else if (op == 0x8f && (following & 31) > 7) {
            vex(next(), next(), true);
        } else if (op == 0x62 && vector) {
            evex();
        } else {
            legacy();
        }
        opcodeEnd = at;
        if (X86Forms.hasModrm(encoding + map, op)) {
            modrm = next();
        }
    }

    private void noPrefix() {
        if (rex != 0 || data >= 0 || repz >= 0 || repnz >= 0 || lock >= 0) {
            throw new X86Decoder.InvalidEncodingException();
        }
    }

    private void vex(int first, int second, boolean xop) {
        noPrefix();
        encoding = X86Forms.VEX;
        rex = (~first >> 5 & 7) | second >> 4 & W;
        map = first & 31;
        vvvv = ~second >> 3 & 15;
        length = second >> 2 & 1;
        mandatory = second & 3;
        op = next();
        if (first < 0 || map < 1 || map > 3 && !xop || xop && (map < 8 || map > 10)) {
            throw new X86Decoder.InvalidEncodingException();
        }
        if (mode != 64) {
            rex &= W;
            vvvv &= 7;
        }
    }

    private void evex() {
        noPrefix();
        int first = next();
        int second = next();
        int third = next();
        encoding = X86Forms.EVEX;
        rex = (~first >> 5 & 7) | second >> 4 & W;
        highR = (first & 0x10) == 0;
        map = first & 7;
        vvvv = (~second >> 3 & 15) | (~third & 8) << 1;
        mandatory = second & 3;
        length = third >> 5 & 3;
        broadcast = (third & 0x10) != 0;
        zeroing = (third & 0x80) != 0;
        mask = third & 7;
        if ((second & 4) == 0 || (first & 8) != 0 || map == 0 || map == 4 || map == 7) {
            throw new X86Decoder.InvalidEncodingException();
        }
        op = next();
        opcodeEnd = at;
        if (mode != 64) {
            rex &= W;
            vvvv &= 7;
            highR = false;
        }
    }

    private void legacy() {
        mandatory = Math.max(repz, repnz) >= 0 ? repz > repnz ? 2 : 3 : data >= 0 ? 1 : 0;
        if (op != 0x0f) {
            return;
        }
        op = next();
        map = op == 0x38 ? 2 : op == 0x3a ? 3 : 1;
        if (map > 1) {
            op = next();
        }
    }

    int operandSize() {
        return (rex & W) != 0 ? 64 : data >= 0 == (mode == 16) ? 32 : 16;
    }

    int addressSize() {
        return mode == 64 ? addr < 0 ? 64 : 32 : addr >= 0 == (mode == 16) ? 32 : 16;
    }

    @Nullable X86Form form() {
        X86Form[] forms = X86Forms.of(encoding + map, op);
        int operand = operandSize();
        long common =
                1L << X86Forms.PREFIX + mandatory
                        | 1L << X86Forms.W + (rex >> 3 & 1)
                        | 1L << X86Forms.MODE + (mode >> 5)
                        | 1L << X86Forms.OPERAND + (operand >> 5)
                        | 1L << X86Forms.REX_B + (rex & 1)
                        | 1L << X86Forms.ADDRESS + (addressSize() >> 5);
        if (modrm >= 0) {
            common |=
                    1L << (modrm >= 0xc0 ? X86Forms.REGISTER : X86Forms.MEMORY)
                            | 1L << X86Forms.REG + (modrm >> 3 & 7)
                            | 1L << X86Forms.RM + (modrm & 7);
        }
        long state = common | 1L << X86Forms.LENGTH + length;
        boolean rounding = encoding == X86Forms.EVEX && broadcast && modrm >= 0xc0;
        boolean freeVvvv = (vvvv & 15) == 0;
        for (X86Form form : forms) {
            boolean er = rounding && (form.traits() & X86Operands.ROUNDING) != 0;
            long wanted = er ? common | 1L << X86Forms.LENGTH + 2 : state;
            if ((form.accept() & wanted) == wanted
                    && er == rounding
                    && (freeVvvv || form.has(X86Forms.X86Trait.VVVV))) {
                select(form);
                return form;
            }
        }
        return null;
    }

    /** Whether some form of the opcode needs the prefix. */
    void selectPrefix() {
        for (X86Form form : X86Forms.of(encoding + map, op)) {
            if (encoding == X86Forms.LEGACY
                    && Long.bitCount(form.accept() & X86Forms.PREFIXES) == 1) {
                use(mandatory == 1 ? data : mandatory == 2 ? repz : mandatory == 3 ? repnz : -1);
            }
        }
    }

    private void select(X86Form form) {
        if (encoding != X86Forms.LEGACY) {
            return;
        }
        if (Long.bitCount(form.accept() & X86Forms.PREFIXES) == 1) {
            use(mandatory == 1 ? data : mandatory == 2 ? repz : mandatory == 3 ? repnz : -1);
        }
        if (form.selects(X86Forms.WS)) {
            useRex(W);
        }
        if (form.selects(X86Forms.OPERANDS)) {
            useOperandSize();
        }
    }

    void useOperandSize() {
        useRex(W);
        if ((rex & W) == 0) {
            use(data);
        }
    }
}
