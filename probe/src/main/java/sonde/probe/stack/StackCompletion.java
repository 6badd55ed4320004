package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import sonde.binary.unwind.CompactRule;
import sonde.sys.MappedRange;

/**
 * Unwinds the rest of a stack that met a file without a table, from the copy that the program in
 * the kernel made, by the same rows.
 */
final class StackCompletion {
    // struct rt_sigframe at rsp: sigcontext of its ucontext at 40, asm/sigcontext.h.
    private static final long SIGNAL_RBP = 120;
    private static final long SIGNAL_RBX = 128;
    private static final long SIGNAL_RSP = 160;
    private static final long SIGNAL_IP = 168;

    private final UnwindFiles files;
    private final MappingLog mappings;
    private MemorySegment copy = MemorySegment.NULL;
    private long copied;
    private long bottom;
    private long rbx;
    private long rbp;
    private long rsp;
    private long ip;
    private boolean exact;
    private volatile boolean waits;
    private UserStackEnd end = UserStackEnd.NO_TABLE;

    StackCompletion(UnwindFiles files, MappingLog mappings) {
        this.files = files;
        this.mappings = mappings;
    }

    /**
     * Adds frames.
     *
     * @param frames that are there; the last one is that whose file had no table
     * @param count of them
     * @param head of the copy, with the stack behind it
     * @return how many there are now
     */
    int complete(int pid, long[] frames, int count, MemorySegment head) throws IOException {
        long stated = head.get(JAVA_LONG_UNALIGNED, UserStackRecord.COUNT);
        copied = Math.clamp(stated, 0, head.byteSize() - UserStackRecord.COPY_HEAD);
        copy = head.asSlice(UserStackRecord.COPY_HEAD);
        rbx = register(head, 0);
        rbp = register(head, 1);
        rsp = register(head, 2);
        ip = register(head, 3);
        bottom = rsp;
        exact = head.get(JAVA_LONG_UNALIGNED, UserStackRecord.COPY_EXACT) != 0;
        int kept = count;
        end = UserStackEnd.LIMIT;
        while (kept < frames.length) {
            long pc = exact ? ip : ip - 1;
            MappedRange range = mappings.find(pid, pc);
            if (range == null) {
                end = kept > count ? UserStackEnd.NO_CODE : UserStackEnd.NO_TABLE;
                return kept > count ? kept - 1 : kept;
            }
            if (!step(pid, range, pc)) {
                return kept;
            }
            if (ip == 0) {
                end = UserStackEnd.OUTERMOST;
                return kept;
            }
            frames[kept++] = ip;
        }
        return kept;
    }

    /** From now on tables that are missing are made at once: nobody waits for the next records. */
    void waitForTables() {
        waits = true;
    }

    /** Why {@link #complete} stopped. */
    UserStackEnd end() {
        return end;
    }

    private static long register(MemorySegment head, int index) {
        return head.get(JAVA_LONG_UNALIGNED, UserStackRecord.COPIED_REGISTERS + 8L * index);
    }

    /** Sets the registers of the caller; whether there is one. */
    private boolean step(int pid, MappedRange range, long pc) throws IOException {
        Integer known = files.rule(pid, range, pc - range.start() + range.offset(), waits);
        if (known == null) {
            end = UserStackEnd.NO_TABLE;
            return false;
        }
        int rule = known;
        long cfa =
                switch (CompactRule.kind(rule)) {
                    case RSP, INTERPRETER_RSP -> rsp + CompactRule.offset(rule);
                    case RBP, INTERPRETER_RBP -> rbp + CompactRule.offset(rule);
                    case RBX -> rbx + CompactRule.offset(rule);
                    case PLT -> rsp + 8 + ((ip & 15) >= CompactRule.offset(rule) / 8 ? 8 : 0);
                    case AT_RBP -> word(rbp + CompactRule.signedOffset(rule));
                    case AT_RSP -> word(rsp + CompactRule.signedOffset(rule)) + 8;
                    case NONE -> rbp >= rsp && (rbp & 7) == 0 ? rbp + 16 : 0;
                    case SIGNAL, REGISTER, RETURN_REGISTER, END, CLONED -> 0;
                };
        CompactRule.Kind kind = CompactRule.kind(rule);
        if (kind == CompactRule.Kind.SIGNAL && has(rsp + SIGNAL_IP)) {
            long frame = rsp;
            rbp = word(frame + SIGNAL_RBP);
            rbx = word(frame + SIGNAL_RBX);
            rsp = word(frame + SIGNAL_RSP);
            ip = word(frame + SIGNAL_IP);
            exact = true;
            return true;
        }
        boolean guessed = kind == CompactRule.Kind.NONE;
        if (cfa < rsp || !has(cfa - 8)) {
            end =
                    kind == CompactRule.Kind.END || kind == CompactRule.Kind.CLONED
                            ? UserStackEnd.OUTERMOST
                            : guessed ? UserStackEnd.NO_ROW : UserStackEnd.SHORT_COPY;
            return false;
        }
        long callerRbx = guessed ? rbx : saved(rule >>> CompactRule.RBX_SHIFT, cfa, rbx);
        rbp = guessed ? word(cfa - 16) : saved(rule >>> CompactRule.RBP_SHIFT, cfa, rbp);
        rbx = callerRbx;
        ip = word(cfa - 8);
        rsp = cfa;
        exact = false;
        return true;
    }

    private long saved(int field, long cfa, long same) {
        int place = field & CompactRule.SAVED_MASK;
        return switch (place) {
            case 0 -> same;
            case CompactRule.AT_RBP -> word(rbp);
            case CompactRule.LOST -> 0;
            default -> word(cfa - 8L * place);
        };
    }

    private boolean has(long address) {
        long at = address - bottom;
        return at >= 0 && at <= copied - 8;
    }

    /** A word of the stack; 0 outside of the copy. */
    private long word(long address) {
        return has(address) ? copy.get(JAVA_LONG_UNALIGNED, address - bottom) : 0;
    }
}
