package sonde.binary.unwind;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.TreeSet;

/**
 * Unwinding rules of code without call frame information, from its instructions: how far they have
 * moved the stack pointer since the start of the function, and where they have saved rbp and rbx.
 * For parts of a start-up object (crtstuff), assembly, and programs that are built without {@code
 * -fasynchronous-unwind-tables} (busybox).
 *
 * <p>Functions begin at the start of the code, where other code of it calls, and behind code that
 * goes on elsewhere. A state is a {@link CompactRule}, and above it the offset of the CFA from rbp
 * in words where the function has a frame pointer.
 */
final class CodeRows {
    private static final int ENTRY = CompactRule.Kind.RSP.ordinal() | 1 << CompactRule.OFFSET_SHIFT;
    private static final int FRAME_SHIFT = 32;
    private static final int MOST_WORDS = 1 << 13;
    private static final int MOST_SAVED = CompactRule.LOST - 1;
    private static final int MOST_TARGETS = 1 << 12;

    /** push %rbp; mov %rsp, %rbp */
    private static final byte[] FRAME = {0x55, 0x48, (byte) 0x89, (byte) 0xe5};

    private static final int LEAST_FRAMES = 16;
    private static final int BYTES_A_FRAME = 4096;

    private static final byte PUSH_RBP = 0x55;
    private static final int ENDBR64 = X86Length.TWO | 0x1e;
    private static final int MOVSLQ = 0x63;
    private static final int RSP = 4;
    private static final int RBP = 5;
    private static final int RBX = 3;

    private final byte[] code;
    private final long address;
    private final int from;
    private final int to;
    private final JumpTableReader tables;
    private final X86Length in;
    private final long[] states;
    private final Deque<long[]> left = new ArrayDeque<>();

    private final BitSet called = new BitSet();
    private final BitSet jumped = new BitSet();

    /** Addresses outside of the code that it uses: where a table ends at the latest. */
    private final TreeSet<Long> bases = new TreeSet<>();

    /** Where a table of offsets may be that a jump to a computed place uses. */
    private long table;

    private long lastBase;

    /** Takes rules by place. */
    interface RuleTaker {
        void rule(int at, int rule);
    }

    /** Reads tables of jumps. */
    interface JumpTableReader {
        /** The 32-bit number at an address of the file, or {@link Long#MIN_VALUE}. */
        long word(long address);
    }

    /**
     * @param code that holds the part
     * @param address of the first byte of {@code code}
     * @param from the first place without rules
     * @param to behind the last one
     */
    CodeRows(byte[] code, long address, int from, int to, JumpTableReader tables) {
        this.code = code;
        this.address = address;
        this.from = from;
        this.to = to;
        this.tables = tables;
        in = new X86Length(code);
        states = new long[to - from];
    }

    /** Takes the trampolines of signals: their first byte is the return address of a handler. */
    void trampolines(RuleTaker taker) {
        for (int place = from; place + SignalTrampoline.CODE_BYTES <= to; place++) {
            if (SignalTrampoline.isAt(code, place)) {
                taker.rule(place, CompactRule.Kind.SIGNAL.ordinal());
            }
        }
    }

    void write(RuleTaker taker) {
        if (hasFramePointers()) {
            // They are right also where such code moves rsp by a register.
            taker.rule(to, CompactRule.NONE);
            return;
        }
        starts();
        drain();
        likelyStarts();
        int last = CompactRule.NONE;
        long switched = 0;
        for (int place = from; place < to; ) {
            if (called.get(place - from)) {
                switched = 0;
            }
            if (states[place - from] == 0) {
                // Reached by no jump that is known: a case of a switch, or another function.
                boolean isBody = switched != 0 && !takesStack(place);
                switched = isBody ? switched : 0;
                flow(place, isBody ? switched : ENTRY);
                drain();
            }
            long state = states[place - from];
            int rule = rule(state);
            if (rule != last) {
                taker.rule(place, rule);
                last = rule;
            }
            boolean isKnown = in.read(place);
            if (isKnown && isOf(0xff, 4) && state != ENTRY) {
                switched = state;
            }
            place = isKnown ? Math.min(in.next, to) : place + 1;
        }
        taker.rule(to, CompactRule.NONE);
    }

    private boolean hasFramePointers() {
        int frames = 0;
        for (int place = from; place + FRAME.length <= to; place++) {
            if (code[place] == FRAME[0]
                    && Arrays.equals(code, place, place + FRAME.length, FRAME, 0, FRAME.length)) {
                frames++;
            }
        }
        return frames >= LEAST_FRAMES && frames > (to - from) / BYTES_A_FRAME;
    }

    private static int rule(long state) {
        int frame = (int) (state >>> FRAME_SHIFT);
        int rule = (int) state;
        if (frame == 0) {
            return rule;
        }
        int saved = rule & (1 << CompactRule.OFFSET_SHIFT) - 16;
        return CompactRule.Kind.RBP.ordinal() | saved | frame << CompactRule.OFFSET_SHIFT;
    }

    /** Where calls lead. */
    private void starts() {
        states[0] = ENTRY;
        left.add(new long[] {from});
        for (int place = from; place < to; ) {
            if (!in.read(place)) {
                place++;
                continue;
            }
            boolean constant = in.opcode == 0x8d && in.isRelative();
            long target = in.next + (constant ? in.displacement : (long) in.immediate);
            if (constant || isTableJump()) {
                bases.add(constant ? address + target : in.displacement & 0xffff_ffffL);
            }
            if ((in.opcode == 0xe8 || constant) && target >= from && target < to) {
                called.set((int) target - from);
            }
            boolean framed = isFramed() && place > from && code[place - 1] == PUSH_RBP;
            if (framed || in.opcode == ENDBR64) {
                called.set((framed ? place - 1 : place) - from);
            }
            if (isJump() && target >= from && target < to) {
                jumped.set((int) target - from);
            }
            place = in.next;
        }
        called.stream()
                .filter(place -> states[place] == 0)
                .forEach(place -> {
                    states[place] = ENTRY;
                    left.add(new long[] {from + place});
                });
    }

    /** Functions that are called by their address: behind padding, or with a first instruction. */
    private void likelyStarts() {
        boolean padded = false;
        for (int place = from; place < to; ) {
            boolean isKnown = in.read(place);
            int next = isKnown ? Math.min(in.next, to) : place + 1;
            boolean isPadding = isKnown && isPadding();
            if (states[place - from] == 0 && !isPadding) {
                boolean isAligned = padded && (address + place & 15) == 0;
                if (isAligned || takesStack(place)) {
                    called.set(place - from);
                    flow(place, ENTRY);
                    drain();
                }
            }
            padded = isPadding;
            place = next;
        }
    }

    private boolean isPadding() {
        return in.opcode == 0x90 || in.opcode == 0xcc || in.opcode == (X86Length.TWO | 0x1f);
    }

    private void drain() {
        for (long[] one = left.poll(); one != null; one = left.poll()) {
            follow((int) one[0]);
        }
    }

    private void flow(long place, long state) {
        if (place >= from && place < to && states[(int) place - from] == 0) {
            states[(int) place - from] = state;
            left.add(new long[] {place});
        }
    }

    /** From a place with a state to where it goes on, until what is known already. */
    private void follow(int start) {
        int place = start;
        table = 0;
        lastBase = 0;
        while (true) {
            long state = states[place - from];
            if (!in.read(place)) {
                return;
            }
            int next = in.next;
            int opcode = in.opcode;
            long target = next + (long) in.immediate;
            if (opcode == 0x8d && in.isRelative()) {
                lastBase = address + next + in.displacement;
            } else if (opcode == MOVSLQ) {
                table = lastBase;
            }
            if (isJump()) {
                flow(target, state);
            }
            if (opcode == 0xff && (in.modrm >> 3 & 7) == 4) {
                jumpTable(state);
            }
            boolean ends =
                    opcode == 0xe9
                            || opcode == 0xeb
                            || opcode == 0xc3
                            || opcode == 0xc2
                            || opcode == 0xf4
                            || opcode == (X86Length.TWO | 0x0b)
                            || opcode == 0xff && (in.modrm >> 3 & 7) == 4;
            if (ends || next >= to || states[next - from] != 0) {
                return;
            }
            boolean called = opcode == 0xe8 || isOf(0xff, 2);
            states[next - from] = after(state);
            if (called && isEndOfFunction(next)) {
                states[next - from] = 0;
                return;
            }
            place = next;
        }
    }

    /** A jump to a stated place, also one with a condition. */
    private boolean isJump() {
        return in.opcode >> 4 == 7
                || in.opcode >> 4 == 0x18
                || in.opcode >> 2 == 0x38
                || in.opcode == 0xe9
                || in.opcode == 0xeb;
    }

    /** {@code jmp *table(,%register,8)}. */
    private boolean isTableJump() {
        return in.opcode == 0xff && in.modrm == 0x24 && in.displacement != 0;
    }

    /** Behind a call that does not return: padding, and then no head of a loop. */
    private boolean isEndOfFunction(int place) {
        int next = place;
        while (next < to && in.read(next) && isPadding()) {
            next = in.next;
        }
        return next > place && next < to && (takesStack(next) || !jumped.get(next - from));
    }

    private void jumpTable(long state) {
        boolean absolute = isTableJump();
        long base = absolute ? in.displacement & 0xffff_ffffL : table;
        long step = absolute ? 8 : 4;
        Long behind = bases.higher(base);
        for (int i = 0; base != 0 && i < MOST_TARGETS; i++) {
            long at = base + step * i;
            long entry = behind != null && at >= behind ? Long.MIN_VALUE : tables.word(at);
            long place = (absolute ? entry & 0xffff_ffffL : base + entry) - address;
            if (entry == Long.MIN_VALUE || place < from || place >= to) {
                return;
            }
            flow(place, state);
        }
    }

    private boolean takesStack(int place) {
        boolean first = in.read(place);
        if (first && in.opcode == ENDBR64) {
            first = in.read(in.next);
        }
        return first && (in.opcode >> 3 == 0xa || isAdjusted());
    }

    /** sub or add of a number and rsp. */
    private boolean isAdjusted() {
        return (in.opcode == 0x83 || in.opcode == 0x81)
                && (in.modrm == 0xec || in.modrm == 0xc4)
                && (in.rex & 1) == 0;
    }

    /** The state behind the instruction. */
    private long after(long state) {
        int register = in.opcode & 7 | (in.rex & 1) << 3;
        int words = (int) state >>> CompactRule.OFFSET_SHIFT;
        int frame = (int) (state >>> FRAME_SHIFT);
        if (in.opcode >> 3 == 0xa) {
            return pushed(state, words + 1, register);
        }
        if (in.opcode >> 3 == 0xb) {
            return popped(state, words, register);
        }
        if (in.opcode == 0x68 || in.opcode == 0x6a || isOf(0xff, 6)) {
            return moved(state, words + 1);
        }
        if (isOf(0x8f, 0)) {
            return moved(state, words - 1);
        }
        if (isAdjusted()) {
            return moved(state, words + (in.modrm == 0xec ? in.immediate : -in.immediate) / 8);
        }
        if (in.opcode == 0x8d && (in.modrm >> 3 & 7) == RSP && (in.rex & 4) == 0) {
            boolean onFrame = (in.modrm & 7) == RBP && frame > 0;
            return moved(state, (onFrame ? frame : words) - in.displacement / 8);
        }
        if (in.opcode == 0xc9 && frame > 0) { // leave
            return popped(moved(state, frame), frame, RBP);
        }
        if (setsStack()) {
            return frame > 0 ? state : CompactRule.UNFIT; // another stack, or an unknown part of it
        }
        int savedRbp = (int) state >>> CompactRule.RBP_SHIFT & CompactRule.SAVED_MASK;
        if (isFramed() && savedRbp != 0 && savedRbp == words) {
            return state & 0xffff_ffffL | (long) words << FRAME_SHIFT;
        }
        return state;
    }

    /** Moves something to rsp, aligns it, or changes it by a register. */
    private boolean setsStack() {
        boolean to = (in.modrm >> 3 & 7) == RSP && (in.rex & 4) == 0;
        boolean of = in.modrm >= 0xc0 && (in.modrm & 7) == RSP && (in.rex & 1) == 0;
        return switch (in.opcode) {
            case 0x8b, 0x03, 0x2b -> to;
            case 0x89, 0x01, 0x29, 0x21 -> of;
            case 0x87 -> of || to;
            case 0x81, 0x83 -> of && (in.modrm >> 3 & 7) == 4;
            default -> false;
        };
    }

    /** Copies rsp to rbp. */
    private boolean isFramed() {
        boolean copies =
                in.opcode == 0x89 && in.modrm == 0xe5 || in.opcode == 0x8b && in.modrm == 0xec;
        return copies && (in.rex & 5) == 0;
    }

    private boolean isOf(int opcode, int extension) {
        return in.opcode == opcode && (in.modrm >> 3 & 7) == extension;
    }

    private static long pushed(long state, int words, int register) {
        int shift =
                register == RBP
                        ? CompactRule.RBP_SHIFT
                        : register == RBX ? CompactRule.RBX_SHIFT : -1;
        long result = moved(state, words);
        boolean isNew = shift > 0 && (state >>> shift & CompactRule.SAVED_MASK) == 0;
        return isNew && words <= MOST_SAVED ? result | (long) words << shift : result;
    }

    private static long popped(long state, int words, int register) {
        long result = moved(state, words - 1);
        if (register == RBP || register == RBX) {
            int shift = register == RBP ? CompactRule.RBP_SHIFT : CompactRule.RBX_SHIFT;
            if ((state >>> shift & CompactRule.SAVED_MASK) == words) {
                result &= ~((long) CompactRule.SAVED_MASK << shift);
                result = register == RBP ? result & 0xffff_ffffL : result;
            }
        }
        return result;
    }

    /** With the CFA so many words above rsp. */
    private static long moved(long state, int words) {
        int kept = Math.clamp(words, 1, MOST_WORDS);
        return state & ~0xfffc_0000L | (long) kept << CompactRule.OFFSET_SHIFT & 0xffff_ffffL;
    }
}
