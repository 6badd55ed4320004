package sonde.symbol.unwind;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.unwind.FrameRule;
import sonde.binary.unwind.FrameStepper;
import sonde.binary.unwind.FrameStepper.StepOutcome;
import sonde.binary.unwind.RegisterValues;
import sonde.binary.unwind.SignalTrampoline;
import sonde.binary.unwind.UnwindMachine;
import sonde.binary.unwind.UnwindMemory;
import sonde.symbol.CodeModule;
import sonde.symbol.ProcessMaps;
import sonde.symbol.unwind.ModuleFrames.ModuleTable;

/**
 * Follows user stacks, for one machine and one pass over a recording. Rules are remembered by place
 * of the code, so that most frames cost two look-ups. Not thread-safe.
 */
public final class StackUnwinder {
    private static final int CACHE_BITS = 13;
    private static final int CACHE_MASK = (1 << CACHE_BITS) - 1;

    /** Says no more than that the frame was no signal's. */
    private static final FrameRule FOLLOWED = FrameRule.none();

    /** What is known of a place of code: its rule, or why it has none. */
    private record FoundRule(@Nullable FrameRule rule, UnwindEnd otherwise, boolean inFile) {}

    /** In a file; {@link #NO_MODULE} in code that was written while the process ran. */
    private static final FoundRule NO_RULE = new FoundRule(null, UnwindEnd.NO_INFORMATION, true);

    private static final FoundRule NO_MODULE = new FoundRule(null, UnwindEnd.NO_INFORMATION, false);
    private static final FoundRule NO_FILE = new FoundRule(null, UnwindEnd.NO_FILE, true);

    private final UnwindMachine machine;
    private final ProcessMaps maps;
    private final ModuleFrames modules;
    private final FrameStepper stepper;
    private final KnownCallers known;
    private final long[] cachedPlaces = new long[1 << CACHE_BITS];
    private final FoundRule[] cached = new FoundRule[1 << CACHE_BITS];
    private RegisterValues frame;
    private RegisterValues caller;
    private UnwindEnd end = UnwindEnd.COMPLETE;

    /**
     * @param maps as they are when a stack is unwound
     */
    public StackUnwinder(UnwindMachine machine, ProcessMaps maps, ModuleFrames modules) {
        this.machine = machine;
        this.maps = maps;
        this.modules = modules;
        this.stepper = new FrameStepper(machine);
        this.known = new KnownCallers(machine, stepper);
        this.frame = new RegisterValues(machine);
        this.caller = new RegisterValues(machine);
        Arrays.fill(cachedPlaces, -1);
    }

    /** The registers of the first frame, to be set before {@link #unwind}. */
    public RegisterValues first() {
        return frame;
    }

    /** Why the last chain ended. */
    public UnwindEnd end() {
        return end;
    }

    /**
     * As {@link #unwind}, when all frames of the stack are known from another one.
     *
     * @return 0 when they are not
     */
    public int known(
            int pid,
            long programCounter,
            long stackPointer,
            long framePointer,
            UnwindMemory memory,
            long[] chain) {
        known.begin(memory, maps.stamp(pid));
        end = UnwindEnd.COMPLETE;
        return known.whole(programCounter, stackPointer, framePointer, chain);
    }

    /**
     * Follows the stack that begins with {@link #first}.
     *
     * @param chain gets the program counter, then return addresses; of a frame that a signal
     *     interrupted its program counter + 1, so that everywhere but at the first the code that
     *     ran lies before the address
     * @return how many there are; 0 when the program counter lies in no code that is known, as that
     *     of a process that has just begun another program
     */
    public int unwind(int pid, UnwindMemory memory, long[] chain) {
        known.begin(memory, maps.stamp(pid));
        int count = walk(pid, known, chain);
        if (end == UnwindEnd.COMPLETE) {
            known.remember(chain, count);
        }
        return count;
    }

    private int walk(int pid, UnwindMemory memory, long[] chain) {
        int count = 0;
        boolean exact = true;
        long address = frame.get(machine.programCounter());
        long ran = address;
        long place = maps.location(pid, ran);
        while (true) {
            if (count == chain.length) {
                end = UnwindEnd.TOO_DEEP;
                return count;
            }
            chain[count] = exact && count > 0 ? address + 1 : address;
            count++;
            boolean wild = count == 1 && !isCode(pid, place, ran);
            boolean alone = wild || exact && count > 1;
            int all = alone ? count : known.complete(frame, chain, count);
            if (all > count) {
                end = UnwindEnd.COMPLETE;
                return all;
            }
            caller.clear();
            FrameRule rule = wild ? wildCall(pid, memory) : step(pid, place, count == 1, memory);
            if (rule == null) {
                return end == UnwindEnd.NOT_CODE ? 0 : count;
            }
            long next = caller.get(machine.programCounter());
            if (next == 0) {
                end = UnwindEnd.COMPLETE;
                return count;
            }
            boolean signal = rule.isSignalFrame();
            if (!signal && !progresses(exact, address, next)) {
                end = UnwindEnd.NO_PROGRESS;
                return count;
            }
            ran = signal ? next : next - 1;
            place = maps.location(pid, ran);
            exact = signal || isStart(pid, place, next);
            if (exact && !signal) {
                ran = next;
                place = maps.location(pid, next);
            }
            if (!isCode(pid, place, ran)) {
                end = UnwindEnd.NOT_CODE;
                return count;
            }
            address = next;
            RegisterValues swap = frame;
            frame = caller;
            caller = swap;
        }
    }

    /**
     * Whether an address begins a function, so that no call stands before it: code that changes
     * stacks leaves such return addresses for those who unwind (Go's systemstack_switch).
     *
     * @param before the place of the byte in front of it
     */
    private boolean isStart(int pid, long before, long address) {
        FoundRule none = find(before);
        return none.rule == null && none.inFile && find(maps.location(pid, address)).rule != null;
    }

    /** A caller lies above; but a function that was just entered may have pushed nothing. */
    private boolean progresses(boolean mayBeLeaf, long address, long next) {
        int pointer = machine.stackPointer();
        if (!frame.has(pointer) || !caller.has(pointer)) {
            return caller.has(machine.framePointer());
        }
        int order = Long.compareUnsigned(caller.get(pointer), frame.get(pointer));
        return order > 0 || order == 0 && mayBeLeaf && machine.hasLinkRegister() && address != next;
    }

    /** Goes to the caller; the rule that led there, null when there is none ({@link #end}). */
    private @Nullable FrameRule step(int pid, long place, boolean first, UnwindMemory memory) {
        FoundRule found = find(place);
        if (found.rule == null) {
            return follow(pid, found.otherwise, found.inFile, memory);
        }
        StepOutcome outcome = stepper.step(found.rule, frame, caller, memory);
        if (outcome != StepOutcome.STEPPED && found.rule.isOnOtherStack()) {
            end = UnwindEnd.OTHER_STACK;
            return null;
        }
        switch (outcome) {
            case STEPPED -> {
                return found.rule;
            }
            case OUTERMOST -> end = UnwindEnd.COMPLETE;
            case NO_MEMORY -> end = missing();
            case NO_REGISTER -> {
                if (!first && machine.hasLinkRegister()) {
                    // its stack pointer is not known where a caller was found by frame pointer
                    return follow(pid, UnwindEnd.NO_REGISTER, false, memory);
                }
                end = UnwindEnd.NO_REGISTER;
            }
            case BAD_RULE -> end = UnwindEnd.BAD_RULE;
        }
        return null;
    }

    /** A call through a wrong pointer: the return address is where calls leave it. */
    private @Nullable FrameRule wildCall(int pid, UnwindMemory memory) {
        end = UnwindEnd.NOT_CODE;
        int word = machine.wordBytes();
        long top = frame.get(machine.stackPointer());
        caller.copy(frame);
        if (machine.hasLinkRegister()) {
            if (!frame.has(machine.returnColumn())) {
                return null;
            }
            long link = frame.get(machine.returnColumn());
            caller.set(machine.programCounter(), machine.address(link));
        } else if (memory.has(top, word)) {
            caller.set(machine.programCounter(), memory.read(top, word));
            caller.set(machine.stackPointer(), top + word);
        } else {
            return null;
        }
        long next = caller.get(machine.programCounter());
        return isCode(pid, maps.location(pid, next - 1), next - 1) && isReturn(pid, next)
                ? FOLLOWED
                : null;
    }

    private UnwindEnd missing() {
        int pointer = machine.stackPointer();
        boolean above =
                frame.has(pointer)
                        && Long.compareUnsigned(stepper.missingAddress(), frame.get(pointer)) >= 0;
        return above ? UnwindEnd.TRUNCATED : UnwindEnd.OTHER_STACK;
    }

    /** By frame pointer; only where what it leads to is certainly a return address. */
    private @Nullable FrameRule follow(
            int pid, UnwindEnd otherwise, boolean inFile, UnwindMemory memory) {
        end = otherwise;
        int pointer = machine.stackPointer();
        long frameAt = frame.get(machine.framePointer());
        boolean below = frame.has(pointer) && Long.compareUnsigned(frameAt, frame.get(pointer)) < 0;
        if (below && frameAt != 0 || frameAt % machine.wordBytes() != 0) {
            return null;
        }
        StepOutcome outcome = stepper.follow(frame, caller, memory);
        if (outcome == StepOutcome.OUTERMOST && otherwise == UnwindEnd.NO_INFORMATION && inFile) {
            // psABI: code marks the deepest frame by a frame pointer of 0
            end = UnwindEnd.COMPLETE;
        }
        if (outcome != StepOutcome.STEPPED) {
            return null;
        }
        long next = caller.get(machine.programCounter());
        long chained = caller.get(machine.framePointer());
        boolean rises = inFile || chained == 0 || Long.compareUnsigned(chained, frameAt) > 0;
        return next != 0
                        && rises
                        && isCode(pid, maps.location(pid, next - 1), next - 1)
                        && isReturn(pid, next)
                ? FOLLOWED
                : null;
    }

    /**
     * Whether an address lies in a mapping that is known; of the kernel's, in that of old calls.
     */
    private boolean isCode(int pid, long place, long address) {
        CodeModule module = maps.module(place);
        return module == null
                ? maps.isCode(pid, address)
                : module.kind() != CodeModule.Kind.UNMAPPED;
    }

    private boolean isReturn(int pid, long address) {
        long location = maps.location(pid, address - CallCheck.BYTES);
        CodeModule module = maps.module(location);
        if (module == null || !isFile(module)) {
            return true;
        }
        Optional<ModuleTable> tables = modules.of(module);
        return tables.isPresent()
                && CallCheck.follows(
                        machine, tables.get().code(ProcessMaps.offset(location), CallCheck.BYTES));
    }

    private static boolean isFile(CodeModule module) {
        return module.kind() == CodeModule.Kind.FILE || module.kind() == CodeModule.Kind.VDSO;
    }

    private FoundRule find(long location) {
        int slot = (int) (location * 0x9E3779B97F4A7C15L >>> 64 - CACHE_BITS) & CACHE_MASK;
        if (cachedPlaces[slot] == location) {
            return cached[slot];
        }
        FoundRule found = look(location);
        cachedPlaces[slot] = location;
        cached[slot] = found;
        return found;
    }

    private FoundRule look(long location) {
        CodeModule module = maps.module(location);
        if (module == null || !isFile(module)) {
            return NO_MODULE;
        }
        Optional<ModuleTable> tables = modules.of(module);
        if (tables.isEmpty() || tables.get().machine() != machine) {
            return NO_FILE;
        }
        long offset = ProcessMaps.offset(location);
        FrameRule rule = tables.get().rule(offset);
        if (rule == null) {
            byte[] code = tables.get().code(offset, SignalTrampoline.CODE_BYTES);
            rule = SignalTrampoline.rule(machine, code);
        }
        if (rule == null && behindSystemCall(tables.get(), offset)) {
            rule = tables.get().rule(offset - 1);
        }
        return rule == null ? NO_RULE : new FoundRule(rule, UnwindEnd.COMPLETE, true);
    }

    /** A function's last instruction may be one; in the kernel, the next one is where it is. */
    private boolean behindSystemCall(ModuleTable tables, long offset) {
        byte[] before = tables.code(offset - 2, 2);
        return machine == UnwindMachine.X86_64
                && before.length == 2
                && before[0] == 0x0f
                && before[1] == 0x05;
    }
}
