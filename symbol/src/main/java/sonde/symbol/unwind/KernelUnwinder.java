package sonde.symbol.unwind;

import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import sonde.binary.unwind.OrcEntry;
import sonde.binary.unwind.OrcEntry.OrcRegister;
import sonde.binary.unwind.OrcEntry.OrcType;
import sonde.binary.unwind.UnwindMemory;

/**
 * Follows stacks of an x86-64 kernel by ORC, where only its memory is there: a task that sleeps, a
 * CPU of a dump. As unwind_next_frame() of arch/x86/kernel/unwind_orc.c does. Not thread-safe.
 */
public final class KernelUnwinder {
    // Offsets in struct pt_regs: arch/x86/include/asm/ptrace.h
    private static final int R13 = 16;
    private static final int BP = 32;
    private static final int R10 = 56;
    private static final int AX = 80;
    private static final int DX = 96;
    private static final int DI = 112;
    private static final int IP = 128;
    private static final int SP = 152;
    private static final int IRET_FRAME = IP;
    private static final int USER_MODE = 3;

    private final LongFunction<@Nullable OrcEntry> entries;
    private final UnwindMemory memory;
    private UnwindEnd end = UnwindEnd.COMPLETE;
    private long ip;
    private long sp;
    private long bp;

    /** Where the whole registers of the frame lie; 0 when nowhere. */
    private long registers;

    private boolean exact;
    private boolean missing;

    /**
     * @param entries of the kernel and its modules, by address as running
     */
    public KernelUnwinder(LongFunction<@Nullable OrcEntry> entries, UnwindMemory memory) {
        this.entries = entries;
        this.memory = memory;
    }

    /** Why the last chain ended. */
    public UnwindEnd end() {
        return end;
    }

    /**
     * Follows a stack.
     *
     * @param isExact whether {@code ip} is where the frame runs, not a return address
     * @param chain gets addresses as {@link StackUnwinder#unwind} gives them
     * @return how many there are
     */
    public int unwind(long fromIp, long fromSp, long fromBp, boolean isExact, long[] chain) {
        ip = fromIp;
        sp = fromSp;
        bp = fromBp;
        registers = 0;
        exact = isExact;
        int count = 0;
        while (count < chain.length) {
            chain[count] = exact && count > 0 ? ip + 1 : ip;
            count++;
            UnwindEnd ended = next();
            if (ended != null) {
                end = ended;
                return count;
            }
        }
        end = UnwindEnd.TOO_DEEP;
        return count;
    }

    /** Goes to the caller; the reason when there is none. */
    private @Nullable UnwindEnd next() {
        OrcEntry entry = entries.apply(exact ? ip : ip - 1);
        if (entry == null || entry.type() == OrcType.UNDEFINED) {
            return UnwindEnd.NO_INFORMATION;
        }
        if (entry.type() == OrcType.END_OF_STACK) {
            return UnwindEnd.COMPLETE;
        }
        missing = false;
        long before = sp;
        long stack = stack(entry);
        if (missing) {
            return UnwindEnd.NO_REGISTER;
        }
        long oldRegisters = registers;
        switch (entry.type()) {
            case CALL -> {
                ip = word(stack - 8);
                sp = stack;
                registers = 0;
            }
            case REGS -> {
                ip = word(stack + IP);
                sp = word(stack + SP);
                registers = stack;
            }
            default -> {
                ip = word(stack);
                sp = word(stack + SP - IRET_FRAME);
                registers = 0;
            }
        }
        if (!missing && entry.type() != OrcType.CALL && isUser(entry, stack)) {
            return UnwindEnd.COMPLETE;
        }
        frame(entry, stack, oldRegisters);
        if (missing) {
            return UnwindEnd.TRUNCATED;
        }
        exact = entry.isSignal();
        boolean stays = Long.compareUnsigned(sp, before) <= 0;
        if (entry.type() == OrcType.CALL && stays && !switchesStack(entry)) {
            return UnwindEnd.NO_PROGRESS;
        }
        return ip >= 0 ? UnwindEnd.NOT_CODE : null;
    }

    private static boolean switchesStack(OrcEntry entry) {
        return entry.stack() == OrcRegister.SP_INDIRECT
                || entry.stack() == OrcRegister.BP_INDIRECT
                || entry.stack() == OrcRegister.R10;
    }

    private boolean isUser(OrcEntry entry, long at) {
        long cs = word(entry.type() == OrcType.REGS ? at + IP + 8 : at + 8);
        return !missing && (cs & USER_MODE) == USER_MODE;
    }

    private long stack(OrcEntry entry) {
        int offset = entry.stackOffset();
        return switch (entry.stack()) {
            case SP -> sp + offset;
            case BP -> bp + offset;
            case SP_INDIRECT -> word(sp) + offset;
            case BP_INDIRECT -> word(bp + offset);
            case R10 -> register(R10) + offset;
            case R13 -> register(R13) + offset;
            case DI -> register(DI) + offset;
            case DX -> register(DX) + offset;
            case AX -> register(AX) + offset;
            case UNDEFINED, PREV_SP -> {
                missing = true;
                yield 0;
            }
        };
    }

    private void frame(OrcEntry entry, long stack, long oldRegisters) {
        switch (entry.frame()) {
            case PREV_SP -> bp = word(stack + entry.frameOffset());
            case BP -> bp = word(bp + entry.frameOffset());
            default -> {
                if (registers != 0) {
                    bp = word(registers + BP);
                } else if (oldRegisters != 0) {
                    bp = word(oldRegisters + BP);
                }
            }
        }
    }

    private long register(int offset) {
        missing |= registers == 0;
        return registers == 0 ? 0 : word(registers + offset);
    }

    private long word(long address) {
        if (missing || !memory.has(address, 8)) {
            missing = true;
            return 0;
        }
        return memory.read(address, 8);
    }
}
