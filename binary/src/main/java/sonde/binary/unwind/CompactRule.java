package sonde.binary.unwind;

/**
 * A frame rule of x86-64 code in 32 bits, for an unwinder in the kernel that knows the stack
 * pointer, rbp and rbx of every frame and the other registers of the innermost one only.
 *
 * <p>Bits 0 to 3 are the {@link Kind}. Bits 4 to 10 say where the caller's rbp is saved, bits 11 to
 * 17 the caller's rbx: 0 for "not changed", n for "at CFA - 8 n", {@link #AT_RBP}, {@link #LOST}.
 * Bits 18 to 31 are the offset of the CFA in words of 8 bytes; signed where the kind dereferences.
 * The return address is at CFA - 8.
 */
public final class CompactRule {
    /** No rule: code without call frame information, or with some that does not fit. */
    public static final int NONE = 0;

    /** The caller's register is at the address in rbp (functions that align their stack). */
    public static final int AT_RBP = 127;

    /** The caller's register cannot be found. */
    public static final int LOST = 126;

    public static final int RBP_SHIFT = 4;
    public static final int RBX_SHIFT = 11;
    public static final int OFFSET_SHIFT = 18;
    public static final int SAVED_MASK = 0x7f;

    /**
     * Padding between functions: no call returns to it, nor to the first byte behind it. Where that
     * is a return address somebody has put it there, to go on with that function ({@code
     * __start_context} behind a coroutine): there is no caller.
     */
    static final int CONTINUED = Kind.END.ordinal() | 1 << OFFSET_SHIFT;

    /** A rule is stated, but none that fits; of the kind NONE. */
    static final int UNFIT = 1 << OFFSET_SHIFT;

    private static final int MOST_SAVED = LOST - 1;
    private static final int MOST_OFFSET = (1 << 14) - 1;

    // DWARF's numbers of x86-64 (psABI, figure 3.36).
    static final int RBX = 3;
    static final int RBP = 6;
    static final int RSP = 7;
    static final int RETURN = 16;

    /** How the CFA is found; the ordinal is in the rule. */
    public enum Kind {
        /** {@link CompactRule#NONE}. */
        NONE,
        /** rsp + offset. */
        RSP,
        /** rbp + offset. */
        RBP,
        /** rbx + offset ({@code _dl_runtime_resolve}). */
        RBX,
        /** rsp + 8, and 8 more from byte {@code offset} of each 16 on: stubs of GNU ld. */
        PLT,
        /** The word at rbp + offset (functions that align their stack). */
        AT_RBP,
        /** The word at rsp + offset, + 8 (assembly of OpenSSL). */
        AT_RSP,
        /** Another register + offset; its number is in the place of rbx. Innermost frame only. */
        REGISTER,
        /** The return address is in a register, whose number is in the place of rbx; CFA is rsp. */
        RETURN_REGISTER,
        /** A signal's trampoline: all registers are in the struct rt_sigframe at rsp. */
        SIGNAL,
        /** The outermost function. */
        END,
        /** Behind the system call that makes a thread: END for the new one, else rsp + offset. */
        CLONED,
        /** As {@link #RSP}, in the function of an interpreter that runs its program's functions. */
        INTERPRETER_RSP,
        /** As {@link #RBP}, in such a function. */
        INTERPRETER_RBP
    }

    private CompactRule() {}

    /** The kind of a rule. */
    public static Kind kind(int rule) {
        int kind = rule & 15;
        return kind < KINDS.length ? KINDS[kind] : Kind.NONE;
    }

    /** The offset in bytes; of {@link Kind#PLT} 8 times the byte of the stub. */
    public static int offset(int rule) {
        return (rule >>> OFFSET_SHIFT) << 3;
    }

    /** The offset in bytes of a kind that dereferences. */
    public static int signedOffset(int rule) {
        return (rule >> OFFSET_SHIFT) << 3;
    }

    private static final Kind[] KINDS = Kind.values();

    /** The same rule, in the function of an interpreter. */
    static int inInterpreter(int rule) {
        return switch (kind(rule)) {
            case RSP -> rule & ~15 | Kind.INTERPRETER_RSP.ordinal();
            case RBP -> rule & ~15 | Kind.INTERPRETER_RBP.ordinal();
            default -> rule;
        };
    }

    /** The rule in 32 bits; {@link #NONE} when it does not fit. */
    static int of(FrameRule rule) {
        if (rule.isSignalFrame()) {
            return Kind.SIGNAL.ordinal();
        }
        int saved = saved(rule, RBP) << RBP_SHIFT | saved(rule, RBX) << RBX_SHIFT;
        for (int i = 0; i < rule.columns.length; i++) {
            if (rule.columns[i] == RETURN) {
                if (rule.kinds[i] == FrameRule.UNDEFINED) {
                    return Kind.END.ordinal();
                }
                if (rule.kinds[i] == FrameRule.REGISTER
                        && rule.cfaRegister() == RSP
                        && rule.cfaOffset() == 0) {
                    return returnRegister((int) rule.operands[i] & 15);
                }
                if (rule.kinds[i] != FrameRule.OFFSET || rule.operands[i] != -8) {
                    return NONE;
                }
            }
        }
        return of(rule.cfaRegister, rule.cfaOffset, rule.cfaExpression, saved);
    }

    static int returnRegister(int number) {
        return Kind.RETURN_REGISTER.ordinal() | number << RBX_SHIFT;
    }

    /** The rule with this CFA and the places of rbp and rbx; {@link #NONE} when it does not fit. */
    static int of(int cfaRegister, long cfaOffset, byte[] cfaExpression, int saved) {
        if (cfaExpression.length > 0) {
            return expression(cfaExpression, saved);
        }
        long words = cfaOffset >> 3;
        if (words < 0 || words > MOST_OFFSET || (cfaOffset & 7) != 0) {
            return NONE;
        }
        int offset = (int) words << OFFSET_SHIFT;
        return switch (cfaRegister) {
            case RSP -> Kind.RSP.ordinal() | saved | offset;
            case RBP -> Kind.RBP.ordinal() | saved | offset;
            case RBX -> Kind.RBX.ordinal() | saved | offset;
            default ->
                    Kind.REGISTER.ordinal()
                            | saved & SAVED_MASK << RBP_SHIFT
                            | (cfaRegister & 15) << RBX_SHIFT
                            | offset;
        };
    }

    private static int saved(FrameRule rule, int column) {
        for (int i = 0; i < rule.columns.length; i++) {
            if (rule.columns[i] == column) {
                return switch (rule.kinds[i]) {
                    case FrameRule.SAME, FrameRule.UNDEFINED -> 0;
                    case FrameRule.OFFSET -> saved(rule.operands[i]);
                    case FrameRule.EXPRESSION -> isAtRbp(rule.expressions[i]) ? AT_RBP : LOST;
                    default -> LOST;
                };
            }
        }
        return 0;
    }

    /** Where a register is that is saved at CFA + bytes. */
    static int saved(long bytes) {
        long words = -bytes >> 3;
        boolean fits = (bytes & 7) == 0 && words > 0;
        return fits && words <= MOST_SAVED ? (int) words : LOST;
    }

    /** DW_OP_breg6 0. */
    static boolean isAtRbp(byte[] code) {
        return code.length == 2 && code[0] == 0x76 && code[1] == 0;
    }

    /**
     * The expressions that occur: {@code *(rbp + n)}, {@code *(rsp + n) + 8} and that of the stubs,
     * {@code rsp + 8 + ((rip & 15) >= n) * 8}.
     */
    private static int expression(byte[] code, int saved) {
        if (code.length == 11
                && code[0] == 0x77
                && code[1] == 8
                && (code[2] & 0xff) == 0x80
                && code[4] == 0x3f
                && code[5] == 0x1a
                && code[6] >= 0x30
                && code[6] < 0x40
                && code[7] == 0x2a) {
            return Kind.PLT.ordinal() | code[6] - 0x30 << OFFSET_SHIFT;
        }
        int at = 1;
        int bytes = 0;
        int shift = 0;
        while (at < code.length && shift < 21) {
            int part = code[at++];
            bytes |= (part & 0x7f) << shift;
            shift += 7;
            if (part >= 0) {
                bytes = bytes << 32 - shift >> 32 - shift;
                break;
            }
        }
        boolean fits = (bytes & 7) == 0 && bytes >= -(1 << 16) && bytes < 1 << 16;
        int left = code.length - at;
        if (!fits || left < 1 || code[at] != 0x06) { // DW_OP_deref
            return NONE;
        }
        int field = (bytes >> 3) << OFFSET_SHIFT;
        if (code[0] == 0x76 && left == 1) {
            return Kind.AT_RBP.ordinal() | saved | field;
        }
        boolean plus8 = left == 3 && code[at + 1] == 0x23 && code[at + 2] == 8;
        return code[0] == 0x77 && plus8 ? Kind.AT_RSP.ordinal() | saved | field : NONE;
    }
}
