package sonde.binary.unwind;

import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.SectionCursor;

/** Runs call frame instructions (DWARF 5, 6.4.2; the GNU and vendor ones beside). */
final class CfiProgram {
    private static final int MOST_STATES = 256;
    private static final int EXPRESSION_LIMIT = 1024;

    /** Most bytes of a CIE's instructions, which are run again for each of its FDEs. */
    private static final int COMMON_LIMIT = 1 << 16;

    private final UnwindMachine machine;
    private final PointerEncoding encoding;
    private final SectionCursor in;
    private final Cie cie;
    private final long start;
    private final FrameRule.Builder state;
    private final FrameRule.Builder initial;
    private final ArrayDeque<FrameRule.Builder> states = new ArrayDeque<>();
    private long location;
    private long told;
    private boolean isTold;

    /** Takes the rows that are made. */
    @FunctionalInterface
    interface RuleSink {
        /** From this offset in the function on a rule holds. */
        void row(long offset, FrameRule rule) throws MalformedInputException;
    }

    CfiProgram(
            UnwindMachine machine,
            PointerEncoding encoding,
            SectionCursor in,
            Cie cie,
            long start) {
        this.machine = machine;
        this.encoding = encoding;
        this.in = in;
        this.cie = cie;
        this.start = start;
        state = new FrameRule.Builder(machine);
        state.returnColumn = cie.returnColumn();
        state.signalFrame = cie.isSignalFrame();
        state.cfaRegister = -1;
        initial = new FrameRule.Builder(machine);
    }

    /** Runs those of the CIE, then those from {@code from} to {@code to}. */
    void run(long from, long to, RuleSink rows) throws MalformedInputException {
        in.seek(cie.from(), cie.to());
        if (cie.to() - cie.from() > COMMON_LIMIT) {
            throw in.malformed("a CIE of " + (cie.to() - cie.from()) + " bytes");
        }
        while (in.hasMore()) {
            instruction(rows);
        }
        initial.copy(state);
        in.seek(from, to);
        while (in.hasMore()) {
            instruction(rows);
        }
        tell(rows);
    }

    /** The row that has just been completed; the last of several at one place counts. */
    private void tell(RuleSink rows) throws MalformedInputException {
        if (!isTold || location > told) {
            rows.row(location, state.build());
            told = location;
            isTold = true;
        }
    }

    private void advance(long count, RuleSink rows) throws MalformedInputException {
        long step = count * cie.codeAlign();
        if (step == 0) {
            return;
        }
        tell(rows);
        location += step;
        if (step < 0 || location > 0xffff_ffffL || location < 0) {
            throw in.malformed("an advance by " + step);
        }
    }

    private void instruction(RuleSink rows) throws MalformedInputException {
        int op = in.u8();
        int low = op & 0x3f;
        switch (op >>> 6) {
            case 1 -> advance(low, rows); // DW_CFA_advance_loc
            case 2 -> offset(low, in.uleb()); // DW_CFA_offset
            case 3 -> restore(low); // DW_CFA_restore
            default -> extended(op, rows);
        }
    }

    private void extended(int op, RuleSink rows) throws MalformedInputException {
        switch (op) {
            case 0x00 -> {} // DW_CFA_nop
            case 0x01 -> setLocation(rows); // DW_CFA_set_loc
            case 0x02 -> advance(in.u8(), rows);
            case 0x03 -> advance(in.u16(), rows);
            case 0x04 -> advance(in.u32(), rows);
            case 0x05 -> offset(in.register(), in.uleb()); // DW_CFA_offset_extended
            case 0x06 -> restore(in.register()); // DW_CFA_restore_extended
            case 0x07 -> state.rule(in.register(), FrameRule.UNDEFINED, 0);
            case 0x08 -> state.rule(in.register(), FrameRule.SAME, 0);
            case 0x09 -> state.rule(in.register(), FrameRule.REGISTER, in.register());
            case 0x0a -> remember(); // DW_CFA_remember_state
            case 0x0b -> recall(); // DW_CFA_restore_state
            case 0x0c -> state.cfa(in.register(), in.uleb()); // DW_CFA_def_cfa
            case 0x0d -> cfaRegister(); // DW_CFA_def_cfa_register
            case 0x0e -> cfaOffset(in.uleb()); // DW_CFA_def_cfa_offset
            case 0x0f -> state.cfa(expression()); // DW_CFA_def_cfa_expression
            case 0x10 -> state.rule(in.register(), FrameRule.EXPRESSION, 0, expression());
            case 0x11 -> offset(in.register(), in.sleb()); // DW_CFA_offset_extended_sf
            case 0x12 -> state.cfa(in.register(), in.sleb() * cie.dataAlign()); // def_cfa_sf
            case 0x13 -> cfaOffset(in.sleb() * cie.dataAlign()); // DW_CFA_def_cfa_offset_sf
            case 0x14 -> valOffset(in.register(), in.uleb()); // DW_CFA_val_offset
            case 0x15 -> valOffset(in.register(), in.sleb()); // DW_CFA_val_offset_sf
            case 0x16 -> state.rule(in.register(), FrameRule.VAL_EXPRESSION, 0, expression());
            case 0x1d -> advance(in.u64(), rows); // DW_CFA_MIPS_advance_loc8
            case 0x2b -> { // DW_CFA_AARCH64_set_ra_state
                in.uleb();
                in.sleb();
            }
            case 0x2c -> signatures(op); // DW_CFA_AARCH64_negate_ra_state_with_pc
            case 0x2d -> signatures(op); // DW_CFA_AARCH64_negate_ra_state, GNU_window_save
            case 0x2e -> in.uleb(); // DW_CFA_GNU_args_size
            case 0x2f -> offset(in.register(), -in.uleb()); // GNU_negative_offset_extended
            default -> throw in.malformed("call frame instruction " + op);
        }
    }

    /** Signatures are taken off every address, so that nothing needs to be remembered. */
    private void signatures(int op) throws MalformedInputException {
        if (machine != UnwindMachine.AARCH64) {
            throw in.malformed("call frame instruction " + op);
        }
    }

    private void setLocation(RuleSink rows) throws MalformedInputException {
        long address =
                cie.pointers() == PointerEncoding.ABSOLUTE
                        ? in.unsigned(cie.addressBytes())
                        : encoding.pointer(in, cie.pointers(), start);
        long target = address - start;
        if (target < location || target > 0xffff_ffffL) {
            throw in.malformed("back to " + Long.toHexString(address));
        }
        if (target > location) {
            tell(rows);
            location = target;
        }
    }

    private void offset(int register, long factored) {
        state.rule(register, FrameRule.OFFSET, factored * cie.dataAlign());
    }

    private void valOffset(int register, long factored) {
        state.rule(register, FrameRule.VAL_OFFSET, factored * cie.dataAlign());
    }

    private void restore(int register) {
        if (register >= 0 && register < state.kinds.length) {
            state.rule(
                    register,
                    initial.kinds[register],
                    initial.operands[register],
                    initial.expressions[register]);
        }
    }

    private void remember() throws MalformedInputException {
        if (states.size() == MOST_STATES) {
            throw in.malformed("more than " + MOST_STATES + " states remembered");
        }
        FrameRule.Builder copy = new FrameRule.Builder(machine);
        copy.copy(state);
        states.push(copy);
    }

    private void recall() throws MalformedInputException {
        FrameRule.Builder kept = states.poll();
        if (kept == null) {
            throw in.malformed("no state was remembered");
        }
        // gcc takes the CFA back as well, which the standard left open until version 3
        state.copy(kept);
    }

    private void cfaRegister() throws MalformedInputException {
        int register = in.register();
        if (state.cfaExpression.length > 0) {
            throw in.malformed("a CFA register where the CFA is an expression");
        }
        state.cfa(register, state.cfaOffset);
    }

    private void cfaOffset(long offset) throws MalformedInputException {
        if (state.cfaExpression.length > 0) {
            throw in.malformed("a CFA offset where the CFA is an expression");
        }
        state.cfa(state.cfaRegister, offset);
    }

    private byte[] expression() throws MalformedInputException {
        long count = in.uleb();
        if (count <= 0 || count > EXPRESSION_LIMIT) {
            throw in.malformed("an expression of " + Long.toUnsignedString(count) + " bytes");
        }
        return in.slice(count).toArray(ValueLayout.JAVA_BYTE);
    }
}
