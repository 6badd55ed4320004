package sonde.binary.unwind;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.SectionCursor;

/**
 * Runs the call frame instructions of x86-64 code into {@link CompactRule}s, all functions of a
 * section in one pass. {@link CfiProgram} runs the instructions of any machine and keeps every
 * column. This class keeps only the three columns of a compact rule, allocates nothing per row and
 * reads an array, because most tables are made in the first second of a process.
 */
final class CompactCfi {
    private static final int MOST_FUNCTIONS = 1 << 23;
    private static final int MOST_CIES = 1 << 16;
    private static final int MOST_STATES = 256;

    private static final int EXPRESSION_LIMIT = 1024;

    /** Bytes of the instructions of a CIE. */
    private static final int COMMON_LIMIT = 1 << 16;

    private static final int PC_RELATIVE_4 = 0x1b; // DW_EH_PE_pcrel | DW_EH_PE_sdata4

    // How the return address is found: 0 for "at CFA - 8", or REGISTER + the register's number.
    private static final int UNDEFINED = 1;
    private static final int ELSEWHERE = 2;
    private static final int REGISTER = 3;

    private final CfiSection.Kind kind;
    private final byte[] in;
    private final SectionCursor cursor;
    private final PointerEncoding encoding;
    private final RuleRows rows;
    private final Map<Integer, CommonEntry> known = new HashMap<>();
    private final ArrayDeque<CfaState> states = new ArrayDeque<>();
    private int at;
    private int end;

    /** Place of the CIE of the entry that {@link #entry} read; -1 for other entries. */
    private int ciePlace;

    private int lastPlace = -1;
    private CommonEntry common = CommonEntry.NONE;
    private long start;
    private long size;
    private long location;
    private long told;
    private int toldRule;
    private boolean inCommon;
    private CfaState initial = CfaState.NONE;

    private int cfaRegister;
    private long cfaOffset;
    private byte[] cfaExpression = FrameRule.NO_EXPRESSION;
    private int returnPlace;
    private int rbp;
    private int rbx;

    /** Takes the rules of functions in the order of their file offsets. */
    interface RuleRows {
        /** Offset of an address in the file; below 0 where it is no code of the file. */
        long offset(long address);

        /** The next rows are those of this function. */
        void function(long start, long sizeBytes);

        /** A rule that holds from this address on. */
        void row(long address, int rule);
    }

    private record CfaState(
            int register, long offset, byte[] expression, int returnPlace, int rbp, int rbx) {
        static final CfaState NONE = new CfaState(-1, 0, FrameRule.NO_EXPRESSION, 0, 0, 0);
    }

    private record CommonEntry(Cie cie, CfaState state) {
        static final CommonEntry NONE =
                new CommonEntry(new Cie(1, 1, 16, 0, false, false, 0, 8, 0, 0), CfaState.NONE);
    }

    CompactCfi(CfiSection.Kind kind, byte[] section, PointerEncoding encoding, RuleRows rows) {
        this.kind = kind;
        this.encoding = encoding;
        this.rows = rows;
        in = section;
        cursor =
                new SectionCursor(
                        "call frames",
                        MemorySegment.ofArray(section),
                        ByteOrder.LITTLE_ENDIAN,
                        COMMON_LIMIT);
    }

    /** Tells the rows of all functions; damage hides only what lies behind it. */
    void run() {
        int[] places = new int[1024];
        long[] order = new long[1024];
        int count = 0;
        boolean sorted = true;
        for (int next = 0; next >= 0 && next <= in.length - 4 && count < MOST_FUNCTIONS; ) {
            int place = next;
            next = entry(place);
            if (ciePlace < 0) {
                continue;
            }
            try {
                header();
            } catch (MalformedInputException e) {
                continue;
            }
            long offset = size > 0 && size <= 0xffff_ffffL ? rows.offset(start) : -1;
            if (offset >= 0) {
                if (count == places.length) {
                    places = Arrays.copyOf(places, 2 * count);
                    order = Arrays.copyOf(order, 2 * count);
                }
                places[count] = place;
                order[count] = offset << 31 | count;
                sorted &= count == 0 || order[count - 1] < order[count];
                count++;
            }
        }
        if (!sorted) {
            Arrays.sort(order, 0, count);
        }
        for (int i = 0; i < count; i++) {
            function(places[(int) order[i] & 0x7fff_ffff]);
        }
    }

    /**
     * Reads length and id of an entry; {@code at} is then behind them, {@code end} behind the
     * entry.
     *
     * @return the place of the next entry; -1 where the length makes no sense
     */
    private int entry(int place) {
        ciePlace = -1;
        at = place;
        int body = place + 4;
        long length = word(place);
        boolean wide = length == 0xffff_ffffL;
        if (wide && in.length - body >= 8) {
            length = word(body) | word(body + 4) << 32;
            body += 8;
        }
        if (length == 0) {
            return body; // a terminator: that of crtend.o may be amidst those of other objects
        }
        if (length < 4 || length > in.length - body) {
            return -1;
        }
        end = body + (int) length;
        boolean debug = kind == CfiSection.Kind.DEBUG_FRAME;
        boolean longId = wide && debug && length >= 8;
        long id = longId ? word(body) | word(body + 4) << 32 : word(body);
        boolean isCommon = debug ? id == (longId ? -1L : 0xffff_ffffL) : id == 0;
        long where = debug ? id : body - id;
        at = body + (longId ? 8 : 4);
        ciePlace = isCommon || where < 0 || where > in.length - 4 ? -1 : (int) where;
        return end;
    }

    private long word(int place) {
        return (in[place] & 0xff
                        | (in[place + 1] & 0xff) << 8
                        | (in[place + 2] & 0xff) << 16
                        | in[place + 3] << 24)
                & 0xffff_ffffL;
    }

    /** Reads the CIE and the range of the FDE whose id was read last. */
    private void header() throws MalformedInputException {
        if (ciePlace != lastPlace) {
            common = common(ciePlace);
            lastPlace = ciePlace;
        }
        Cie cie = common.cie();
        if (cie.pointers() == PC_RELATIVE_4 && cie.segmentBytes() == 0 && end - at >= 8) {
            start = encoding.sectionAddress() + at + (int) word(at);
            size = (int) word(at + 4);
            at += 8;
            return;
        }
        cursor.seek(at, end);
        cursor.skip(cie.segmentBytes());
        boolean absolute = cie.pointers() == PointerEncoding.ABSOLUTE;
        start =
                absolute
                        ? cursor.unsigned(cie.addressBytes())
                        : encoding.pointer(cursor, cie.pointers(), 0);
        size =
                absolute
                        ? cursor.unsigned(cie.addressBytes())
                        : encoding.value(cursor, cie.pointers());
        at = (int) cursor.position();
    }

    private CommonEntry common(int place) throws MalformedInputException {
        CommonEntry read = known.get(place);
        if (read != null) {
            return read;
        }
        int keptAt = at;
        int keptEnd = end;
        int keptPlace = ciePlace;
        lastPlace = -1;
        boolean valid = entry(place) >= 0 && ciePlace < 0 && at > place;
        ciePlace = keptPlace;
        if (!valid || known.size() == MOST_CIES) {
            throw malformed("an FDE without a valid CIE");
        }
        cursor.seek(at, end);
        Cie cie = Cie.read(cursor, encoding);
        if (cie.to() - cie.from() > COMMON_LIMIT) {
            throw malformed("a CIE of " + (cie.to() - cie.from()) + " bytes");
        }
        common = new CommonEntry(cie, CfaState.NONE);
        initial = CfaState.NONE;
        take(initial);
        inCommon = true;
        instructions((int) cie.from(), (int) cie.to());
        read = new CommonEntry(cie, state());
        known.put(place, read);
        at = keptAt;
        end = keptEnd;
        return read;
    }

    /** Runs the instructions of a function; where they break off, the rows before stay. */
    private void function(int place) {
        try {
            entry(place);
            header();
            rows.function(start, size);
            if (common.cie().isAugmented()) {
                long bytes = uleb();
                if (bytes < 0 || bytes > end - at) {
                    throw malformed("augmentation of " + bytes + " bytes");
                }
                at += (int) bytes;
            }
            initial = common.state();
            take(initial);
            location = 0;
            told = -1;
            inCommon = false;
            instructions(at, end);
            tell();
        } catch (MalformedInputException e) {
            // The functions behind it have their rows all the same.
        }
    }

    private CfaState state() {
        return new CfaState(cfaRegister, cfaOffset, cfaExpression, returnPlace, rbp, rbx);
    }

    private void take(CfaState state) {
        cfaRegister = state.register();
        cfaOffset = state.offset();
        cfaExpression = state.expression();
        returnPlace = state.returnPlace();
        rbp = state.rbp();
        rbx = state.rbx();
    }

    private void instructions(int from, int to) throws MalformedInputException {
        states.clear();
        at = from;
        end = to;
        while (at < end) {
            int op = in[at++] & 0xff;
            int low = op & 0x3f;
            switch (op >>> 6) {
                case 1 -> advance(low); // DW_CFA_advance_loc
                case 2 -> offset(low, uleb()); // DW_CFA_offset
                case 3 -> restore(low); // DW_CFA_restore
                default -> extended(op);
            }
        }
    }

    private void extended(int op) throws MalformedInputException {
        switch (op) {
            case 0x00 -> {} // DW_CFA_nop
            case 0x01 -> setLocation(); // DW_CFA_set_loc
            case 0x02 -> advance(u8());
            case 0x03 -> advance(u8() | u8() << 8);
            case 0x04 -> advance(u32());
            case 0x05 -> offset(register(), uleb()); // DW_CFA_offset_extended
            case 0x06 -> restore(register()); // DW_CFA_restore_extended
            case 0x07 -> column(register(), UNDEFINED, 0);
            case 0x08 -> column(register(), ELSEWHERE, 0); // DW_CFA_same_value
            case 0x09 -> inRegister(register(), register());
            case 0x0a -> remember(); // DW_CFA_remember_state
            case 0x0b -> recall(); // DW_CFA_restore_state
            case 0x0c -> cfa(register(), uleb()); // DW_CFA_def_cfa
            case 0x0d -> cfaRegister(); // DW_CFA_def_cfa_register
            case 0x0e -> cfaOffset(uleb()); // DW_CFA_def_cfa_offset
            case 0x0f -> cfaExpression = expression(); // DW_CFA_def_cfa_expression
            case 0x10 -> atExpression(register(), expression());
            case 0x11 -> offset(register(), sleb()); // DW_CFA_offset_extended_sf
            case 0x12 -> cfa(register(), sleb() * common.cie().dataAlign());
            case 0x13 -> cfaOffset(sleb() * common.cie().dataAlign());
            case 0x14 -> lost(register(), uleb()); // DW_CFA_val_offset
            case 0x15 -> lost(register(), sleb()); // DW_CFA_val_offset_sf
            case 0x16 -> lost(register(), expression().length); // DW_CFA_val_expression
            case 0x1d -> advance(u32() | u32() << 32); // DW_CFA_MIPS_advance_loc8
            case 0x2e -> uleb(); // DW_CFA_GNU_args_size
            case 0x2f -> offset(register(), -uleb()); // GNU_negative_offset_extended
            default -> throw malformed("call frame instruction " + op);
        }
    }

    /** The row that has just been completed; the last of several at one place counts. */
    private void tell() {
        if (location > told) {
            int rule = rule();
            if (told < 0 || rule != toldRule) {
                rows.row(start + location, rule);
            }
            told = location;
            toldRule = rule;
        }
    }

    private int rule() {
        if (common.cie().isSignalFrame()) {
            return CompactRule.Kind.SIGNAL.ordinal();
        }
        if (returnPlace == 0) {
            int saved = rbp << CompactRule.RBP_SHIFT | rbx << CompactRule.RBX_SHIFT;
            return CompactRule.of(cfaRegister, cfaOffset, cfaExpression, saved);
        }
        if (returnPlace == UNDEFINED) {
            return CompactRule.Kind.END.ordinal();
        }
        boolean plain = cfaExpression.length == 0 && cfaOffset == 0;
        return returnPlace >= REGISTER && plain && cfaRegister == CompactRule.RSP
                ? CompactRule.returnRegister(returnPlace - REGISTER)
                : CompactRule.NONE;
    }

    private void advance(long count) throws MalformedInputException {
        long step = count * common.cie().codeAlign();
        if (step == 0) {
            return;
        }
        if (inCommon || step < 0 || location + step > 0xffff_ffffL) {
            throw malformed("an advance by " + step);
        }
        tell();
        location += step;
    }

    private void setLocation() throws MalformedInputException {
        Cie cie = common.cie();
        cursor.seek(at, end);
        long address =
                cie.pointers() == PointerEncoding.ABSOLUTE
                        ? cursor.unsigned(cie.addressBytes())
                        : encoding.pointer(cursor, cie.pointers(), start);
        at = (int) cursor.position();
        long target = address - start;
        if (inCommon || target < location || target > 0xffff_ffffL) {
            throw malformed("back to " + Long.toHexString(address));
        }
        if (target > location) {
            tell();
            location = target;
        }
    }

    private void column(int column, int forReturn, int forOthers) {
        switch (column) {
            case CompactRule.RBX -> rbx = forOthers;
            case CompactRule.RBP -> rbp = forOthers;
            case CompactRule.RETURN -> returnPlace = forReturn;
            default -> {} // no part of a compact rule
        }
    }

    private void offset(int column, long factored) {
        long bytes = factored * common.cie().dataAlign();
        column(column, bytes == -8 ? 0 : ELSEWHERE, CompactRule.saved(bytes));
    }

    private void inRegister(int column, int register) {
        column(column, REGISTER + (register & 15), CompactRule.LOST);
    }

    private void atExpression(int column, byte[] code) {
        int place = CompactRule.isAtRbp(code) ? CompactRule.AT_RBP : CompactRule.LOST;
        column(column, ELSEWHERE, place);
    }

    /** A value that a compact rule cannot tell. */
    private void lost(int column, @SuppressWarnings("unused") long operand) {
        column(column, ELSEWHERE, CompactRule.LOST);
    }

    private void restore(int column) {
        switch (column) {
            case CompactRule.RBX -> rbx = initial.rbx();
            case CompactRule.RBP -> rbp = initial.rbp();
            case CompactRule.RETURN -> returnPlace = initial.returnPlace();
            default -> {} // no part of a compact rule
        }
    }

    private void remember() throws MalformedInputException {
        if (states.size() == MOST_STATES) {
            throw malformed("more than " + MOST_STATES + " states remembered");
        }
        states.push(state());
    }

    private void recall() throws MalformedInputException {
        CfaState kept = states.poll();
        if (kept == null) {
            throw malformed("no state was remembered");
        }
        // gcc takes the CFA back as well, which the standard left open until version 3
        take(kept);
    }

    private void cfa(int register, long offset) {
        cfaRegister = register;
        cfaOffset = offset;
        cfaExpression = FrameRule.NO_EXPRESSION;
    }

    private void cfaRegister() throws MalformedInputException {
        int register = register();
        if (cfaExpression.length > 0) {
            throw malformed("a CFA register where the CFA is an expression");
        }
        cfaRegister = register;
    }

    private void cfaOffset(long offset) throws MalformedInputException {
        if (cfaExpression.length > 0) {
            throw malformed("a CFA offset where the CFA is an expression");
        }
        cfaOffset = offset;
    }

    private byte[] expression() throws MalformedInputException {
        long count = uleb();
        if (count <= 0 || count > Math.min(EXPRESSION_LIMIT, end - at)) {
            throw malformed("an expression of " + Long.toUnsignedString(count) + " bytes");
        }
        at += (int) count;
        return Arrays.copyOfRange(in, at - (int) count, at);
    }

    private int u8() throws MalformedInputException {
        if (at >= end) {
            throw malformed("ends too early");
        }
        return in[at++] & 0xff;
    }

    private long u32() throws MalformedInputException {
        if (end - at < 4) {
            throw malformed("ends too early");
        }
        at += 4;
        return word(at - 4);
    }

    private long uleb() throws MalformedInputException {
        int first = u8();
        return first < 0x80 ? first : leb(first & 0x7f, 7, false);
    }

    private long sleb() throws MalformedInputException {
        return leb(0, 0, true);
    }

    private long leb(long low, int bits, boolean signed) throws MalformedInputException {
        long value = low;
        int shift = bits;
        int b;
        do {
            b = u8();
            value |= shift < 64 ? (b & 0x7fL) << shift : 0;
            shift += 7;
        } while (b >= 0x80);
        return signed && shift < 64 && (b & 0x40) != 0 ? value | -1L << shift : value;
    }

    private int register() throws MalformedInputException {
        long value = uleb();
        return value < 0 || value > 0xffff ? -1 : (int) value;
    }

    private MalformedInputException malformed(String found) {
        return new MalformedInputException("ELF", "call frame information", at, found);
    }
}
