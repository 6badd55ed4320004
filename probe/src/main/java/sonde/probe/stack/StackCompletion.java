package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.unwind.CompactRule;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;

/**
 * Unwinds the rest of a stack that met a file without a table, from the copy that the program in the
 * kernel made, by the same rows. The process has to be there still: its mappings are read.
 */
final class StackCompletion {
    private static final int KEPT_PROCESSES = 64;

    private final UnwindFiles files;
    private final Map<Integer, List<MappedRange>> mappings =
            new LinkedHashMap<>(16, 0.75f, true) {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<Integer, List<MappedRange>> eldest) {
                    return size() > KEPT_PROCESSES;
                }
            };

    private MemorySegment copy = MemorySegment.NULL;
    private long copied;
    private long bottom;
    private long rbx;
    private long rbp;
    private long rsp;
    private long ip;
    private boolean exact;
    private UserStackEnd end = UserStackEnd.NO_TABLE;

    StackCompletion(UnwindFiles files) {
        this.files = files;
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
            MappedRange range = mapping(pid, pc);
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

    /** Why {@link #complete} stopped. */
    UserStackEnd end() {
        return end;
    }

    private static long register(MemorySegment head, int index) {
        return head.get(JAVA_LONG_UNALIGNED, UserStackRecord.COPIED_REGISTERS + 8L * index);
    }

    private @org.jspecify.annotations.Nullable MappedRange mapping(int pid, long pc) {
        MappedRange known = find(mappings.getOrDefault(pid, List.of()), pc);
        if (known != null) {
            return known;
        }
        try {
            List<MappedRange> now = MappedRange.of(pid);
            mappings.put(pid, now);
            return find(now, pc);
        } catch (SyscallException e) {
            return null; // the process is gone
        }
    }

    private static @org.jspecify.annotations.Nullable MappedRange find(
            List<MappedRange> ranges, long pc) {
        for (MappedRange range : ranges) {
            if (Long.compareUnsigned(pc, range.start()) >= 0
                    && Long.compareUnsigned(pc, range.end()) < 0) {
                return range.permissions().charAt(2) == 'x' ? range : null;
            }
        }
        return null;
    }

    /** Sets the registers of the caller; whether there is one. */
    private boolean step(int pid, MappedRange range, long pc) throws IOException {
        int rule = files.rule(pid, range, pc - range.start() + range.offset());
        long cfa =
                switch (CompactRule.kind(rule)) {
                    case RSP -> rsp + CompactRule.offset(rule);
                    case RBP -> rbp + CompactRule.offset(rule);
                    case RBX -> rbx + CompactRule.offset(rule);
                    case PLT ->
                            rsp + 8 + ((ip & 15) >= CompactRule.offset(rule) / 8 ? 8 : 0);
                    case AT_RBP -> word(rbp + CompactRule.signedOffset(rule));
                    case AT_RSP -> word(rsp + CompactRule.signedOffset(rule)) + 8;
                    case NONE -> rbp >= rsp && (rbp & 7) == 0 ? rbp + 16 : 0;
                    case SIGNAL, REGISTER, RETURN_REGISTER, END -> 0;
                };
        CompactRule.Kind kind = CompactRule.kind(rule);
        boolean guessed = kind == CompactRule.Kind.NONE;
        if (cfa < rsp || !has(cfa - 8)) {
            end =
                    kind == CompactRule.Kind.END
                            ? UserStackEnd.OUTERMOST
                            : guessed ? UserStackEnd.NO_ROW : UserStackEnd.NO_TABLE;
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
