package sonde.probe.kmem;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R5;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;

import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.TaskTree;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.sys.MachineFacts;

/** The programs of {@link KmemSession}. */
final class KmemCode {
    /** Most frames of a stack. */
    static final int FRAMES = 64;

    /** Of a stack: a u64 for each frame, the innermost first, zeros behind. */
    static final int STACK_BYTES = 8 * FRAMES;

    /** Of a live object: u64 stack, requested, allocated, cache, u32 gfp, kind, pid, period. */
    static final int OBJECT_BYTES = 48;

    // The control block: u32 phase and period, then u64 counters.
    static final int PHASE = 0;
    static final int PERIOD = 4;
    static final int FULL = 8;
    static final int NO_STACK = 16;
    static final int REUSED = 24;
    static final int A_CACHE = 32;
    static final int CONTROL_BYTES = 40;

    // On the stack; TaskTree has the four bytes at its KEY.
    private static final int KEY = -16;
    private static final int HASH = -24;
    private static final int VALUE = HASH - OBJECT_BYTES;
    private static final int SLOT = VALUE - 8;

    /** Of a frame that is named: text of %pS, as {@code "foo_init+0x1a/0x1000 [foo]"}. */
    static final int NAME_BYTES = 96;

    /** A byte for some addresses each. */
    static final int SEEN_BYTES = 1 << 20;

    private static final int SNPRINTF = HelperFunctionId.number("bpf_snprintf");
    private static final int GET_FUNC_ARG = HelperFunctionId.number("bpf_get_func_arg");
    // struct pt_regs of x86-64.
    private static final int R8_OF_REGISTERS = 72;
    private static final int AX = 80;
    private static final int DI = 112;

    private static final int NAMED_FRAMES = 24;
    private static final int NAME_KEY = SLOT - 8;

    private static final int EXISTS_NOT = 1; // BPF_NOEXIST
    private static final int MULTIPLIER = 0x01000193; // FNV, 32 bits

    /** The maps that the programs share. */
    record KmemMaps(
            BpfMap live,
            BpfMap stacks,
            BpfMap scratch,
            BpfMap control,
            BpfMap names,
            BpfMap format,
            BpfMap seen) {}

    /** Where the code of the kernel itself lies; what is elsewhere is named at once. */
    record KernelText(long start, long end) {}

    private final KmemMaps maps;
    private final @Nullable TaskTree tasks;
    private final CodeBuilder code = new CodeBuilder();

    /**
     * A program.
     *
     * @param tasks whose allocations are kept; null for those of all
     */
    KmemCode(KmemMaps maps, @Nullable TaskTree tasks) {
        this.maps = maps;
        this.tasks = tasks;
    }

    /**
     * Keeps an allocation with its stack. An address that is handed out again was freed, whether
     * that was seen or not.
     *
     * @param slot of the scratch memory: no other program has it, as an interrupt may run between
     */
    ProgramCode allocated(AllocationEvent event, int slot, KernelText text) {
        Label out = new Label("out");
        Label reused = new Label("handed out again");
        Label kept = new Label("kept");
        code.step("the address")
                .move(R6, R1)
                .load(Width.U64, R7, R6, 8 * event.pointer())
                .store(Width.U64, R10, KEY, R7)
                .ifZero(R7, out);
        if (event.failed() >= 0) {
            code.load(Width.U64, R1, R6, 8 * event.failed())
                    .compute32(AluOperation.MOVE, R1, R1)
                    .ifNotZero(R1, out);
        }
        code.step("is it to be kept").mapValue(R8, maps.control().fd(), 0);
        if (event.cache() >= 0) {
            code.load(Width.U64, R1, R6, 8 * event.cache()).store(Width.U64, R8, A_CACHE, R1);
        }
        code.load(Width.U32, R1, R8, PHASE).ifZero(R1, reused);
        if (tasks != null) {
            tasks.filter(code, reused);
        }
        stack(slot, text, reused);
        value(event);
        code.step("keep the object");
        mark();
        put(maps.live(), KEY, 0);
        code.ifZero(R0, kept);
        count(FULL);
        code.jump(out).at(kept).jump(out).at(reused);
        forget(out, true);
        return code.at(out).exit(0).build();
    }

    /**
     * At the entry of the function that makes areas of vmalloc: remembers stack, size and flags.
     */
    ProgramCode areaBegins(BpfMap begun, int slot, KernelText text) {
        Label out = new Label("out");
        code.move(R6, R1)
                .step("is it to be kept")
                .mapValue(R8, maps.control().fd(), 0)
                .load(Width.U32, R1, R8, PHASE)
                .ifZero(R1, out);
        if (tasks != null) {
            tasks.filter(code, out);
        }
        stack(slot, text, out);
        code.step("remember it")
                .load(Width.U64, R1, R10, HASH)
                .store(Width.U64, R10, VALUE, R1)
                .load(Width.U64, R1, R6, DI)
                .store(Width.U64, R10, VALUE + 8, R1)
                .load(Width.U64, R1, R6, R8_OF_REGISTERS)
                .store(Width.U64, R10, VALUE + 16, R1)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .store(Width.U64, R10, KEY, R0);
        put(begun, KEY, 0);
        return code.at(out).exit(0).build();
    }

    /** At its return: keeps the area. */
    ProgramCode areaMade(BpfMap begun) {
        Label out = new Label("out");
        Label kept = new Label("kept");
        code.move(R6, R1)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .store(Width.U64, R10, KEY, R0);
        find(begun, KEY);
        code.ifZero(R0, out);
        for (int at = 0; at < 16; at += 8) {
            code.load(Width.U64, R1, R0, at).store(Width.U64, R10, VALUE + at, R1);
        }
        code.load(Width.U64, R9, R0, 16)
                .map(R1, begun.fd())
                .move(R2, R10)
                .add(R2, KEY)
                .call(HelperFunctionId.MAP_DELETE_ELEM)
                .load(Width.U64, R1, R6, AX)
                .ifZero(R1, out)
                .store(Width.U64, R10, KEY, R1)
                .mapValue(R8, maps.control().fd(), 0)
                .store(Width.U64, R10, VALUE + 16, 0)
                .store(Width.U64, R10, VALUE + 24, 0)
                .store(Width.U64, R10, VALUE + 32, R9);
        owner(AllocationKind.VMALLOC);
        mark();
        put(maps.live(), KEY, 0);
        code.ifZero(R0, kept);
        count(FULL);
        return code.at(kept).at(out).exit(0).build();
    }

    /** The object at an address, or of a struct page, is given back. */
    ProgramCode freed(int argument) {
        Label out = new Label("out");
        code.load(Width.U64, R1, R1, 8 * argument).store(Width.U64, R10, KEY, R1);
        forget(out, false);
        return code.at(out).exit(0).build();
    }

    /**
     * The same at the entry of a traced function. The helper reads the argument: the verifier of
     * Linux 6.1 takes no pointer to const void from the context.
     */
    ProgramCode freedByFunction() {
        Label out = new Label("out");
        code.move(R2, 0)
                .move(R3, R10)
                .add(R3, KEY)
                .store(Width.U64, R10, KEY, 0)
                .call(GET_FUNC_ARG)
                .ifNotZero(R0, out);
        forget(out, false);
        return code.at(out).exit(0).build();
    }

    /** Looks first: it takes no lock, and most addresses are not there. */
    private void forget(Label out, boolean counted) {
        code.step("is the object known").load(Width.U64, R1, R10, KEY);
        seen();
        code.load(Width.U8, R1, R2, 0).ifZero(R1, out);
        find(maps.live(), KEY);
        code.ifZero(R0, out)
                .map(R1, maps.live().fd())
                .move(R2, R10)
                .add(R2, KEY)
                .call(HelperFunctionId.MAP_DELETE_ELEM);
        if (counted) {
            count(REUSED);
        }
    }

    /**
     * R2 = the byte of the address in R1, which is not 0 when an object with that byte was kept.
     * Most addresses were not, and need no look in the table.
     */
    private void seen() {
        code.move(R3, R1)
                .shiftRight(R1, 4)
                .shiftRight(R3, 18)
                .compute(AluOperation.XOR, R1, R3)
                .and(R1, SEEN_BYTES - 1)
                .mapValue(R2, maps.seen().fd(), 0)
                .add(R2, R1);
    }

    private void mark() {
        code.load(Width.U64, R1, R10, KEY);
        seen();
        code.store(Width.U8, R2, 0, 1);
    }

    private void find(BpfMap map, int key) {
        code.map(R1, map.fd()).move(R2, R10).add(R2, key).call(HelperFunctionId.MAP_LOOKUP_ELEM);
    }

    /** R0 = 0 when the value at {@link #VALUE} is in the map. */
    private void put(BpfMap map, int key, int flags) {
        code.map(R1, map.fd())
                .move(R2, R10)
                .add(R2, key)
                .move(R3, R10)
                .add(R3, VALUE)
                .move(R4, flags)
                .call(HelperFunctionId.MAP_UPDATE_ELEM);
    }

    private void count(int counter) {
        code.mapValue(R1, maps.control().fd(), counter).move(R2, 1).atomicAdd(Width.U64, R1, 0, R2);
    }

    /** {@link #HASH} = the number of the stack, 0 for none. */
    private void stack(int slot, KernelText text, Label none) {
        Label hashed = new Label("hashed");
        Label known = new Label("known stack");
        Label failed = new Label("no stack");
        Label fresh = new Label("new stack");
        code.step("the stack").store(Width.U32, R10, SLOT, slot);
        find(maps.scratch(), SLOT);
        code.ifZero(R0, none)
                .move(R7, R0)
                .move(R1, R6)
                .move(R2, R7)
                .move(R3, STACK_BYTES)
                .move(R4, 0)
                .call(HelperFunctionId.GET_STACK)
                .move(R9, 0)
                .branch(JumpCondition.SIGNED_LESS_OR_EQUAL, R0, 0, failed)
                .step("its number");
        for (int i = 0; i < FRAMES; i++) {
            // The xor of a product has the upper bits in the lower ones again.
            code.load(Width.U64, R1, R7, 8 * i)
                    .ifZero(R1, hashed)
                    .compute(AluOperation.XOR, R9, R1)
                    .compute(AluOperation.MULTIPLY, R9, MULTIPLIER)
                    .move(R1, R9)
                    .shiftRight(R1, 29)
                    .compute(AluOperation.XOR, R9, R1);
        }
        code.at(hashed).store(Width.U64, R10, HASH, R9);
        find(maps.stacks(), HASH);
        code.ifNotZero(R0, known)
                .map(R1, maps.stacks().fd())
                .move(R2, R10)
                .add(R2, HASH)
                .move(R3, R7)
                .move(R4, EXISTS_NOT)
                .call(HelperFunctionId.MAP_UPDATE_ELEM)
                .ifZero(R0, fresh);
        find(maps.stacks(), HASH); // another CPU may have put it there
        code.ifNotZero(R0, known).jump(failed).at(fresh);
        names(text, known);
        code.at(failed).store(Width.U64, R10, HASH, R9);
        count(NO_STACK);
        code.at(known);
    }

    /**
     * Names the frames in modules while they are there: the code that starts a module is gone when
     * the module is loaded, and all of it when it is unloaded.
     */
    private void names(KernelText text, Label done) {
        code.step("names of code of modules");
        for (int i = 0; i < NAMED_FRAMES; i++) {
            Label next = new Label("frame " + i);
            Label named = new Label("named " + i);
            code.load(Width.U64, R1, R7, 8 * i)
                    .ifZero(R1, done)
                    .move(R2, text.start())
                    .branch(JumpCondition.LESS, R1, R2, named)
                    .move(R2, text.end())
                    .branch(JumpCondition.LESS, R1, R2, next)
                    .at(named)
                    .store(Width.U64, R10, NAME_KEY, R1);
            find(maps.names(), NAME_KEY);
            code.ifNotZero(R0, next);
            for (int at = 0; at < NAME_BYTES; at += 8) {
                code.store(Width.U64, R10, NAME_KEY - NAME_BYTES + at, 0);
            }
            code.move(R1, R10)
                    .add(R1, NAME_KEY - NAME_BYTES)
                    .move(R2, NAME_BYTES)
                    .mapValue(R3, maps.format().fd(), 0)
                    .move(R4, R10)
                    .add(R4, NAME_KEY)
                    .move(R5, 8)
                    .call(SNPRINTF)
                    .map(R1, maps.names().fd())
                    .move(R2, R10)
                    .add(R2, NAME_KEY)
                    .move(R3, R10)
                    .add(R3, NAME_KEY - NAME_BYTES)
                    .move(R4, 0)
                    .call(HelperFunctionId.MAP_UPDATE_ELEM)
                    .at(next);
        }
        code.jump(done);
    }

    private void value(AllocationEvent event) {
        code.step("what is known of it")
                .load(Width.U64, R1, R10, HASH)
                .store(Width.U64, R10, VALUE, R1);
        argument(event.requested(), VALUE + 8);
        if (event.kind() == AllocationKind.PAGES) {
            code.load(Width.U32, R1, R10, VALUE + 8)
                    .and(R1, 31)
                    .move(R2, MachineFacts.pageBytes())
                    .compute(AluOperation.SHIFT_LEFT, R2, R1)
                    .store(Width.U64, R10, VALUE + 8, R2);
        }
        if (event.kind() == AllocationKind.VMALLOC) {
            // An area ends with a page that is not mapped.
            code.load(Width.U64, R1, R10, VALUE + 8)
                    .add(R1, -MachineFacts.pageBytes())
                    .store(Width.U64, R10, VALUE + 8, R1);
        }
        argument(event.allocated(), VALUE + 16);
        argument(event.cache(), VALUE + 24);
        argument(event.gfp(), VALUE + 32);
        owner(event.kind());
    }

    private void owner(AllocationKind kind) {
        code.store(Width.U32, R10, VALUE + 36, kind.ordinal())
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .shiftRight(R0, 32)
                .store(Width.U32, R10, VALUE + 40, R0)
                .load(Width.U32, R1, R8, PERIOD)
                .store(Width.U32, R10, VALUE + 44, R1);
    }

    private void argument(int index, int to) {
        if (index < 0) {
            code.store(Width.U64, R10, to, 0);
        } else {
            code.load(Width.U64, R1, R6, 8 * index).store(Width.U64, R10, to, R1);
        }
    }

    /** Copies kernel memory to a map: the context is address and length. */
    static ProgramCode peek(BpfMap room, int mostBytes) {
        Label out = new Label("out");
        return new CodeBuilder()
                .load(Width.U64, R3, R1, 0)
                .load(Width.U64, R2, R1, 8)
                .move(R0, -1)
                .branch(JumpCondition.GREATER, R2, mostBytes, out)
                .mapValue(R1, room.fd(), 0)
                .call(HelperFunctionId.PROBE_READ_KERNEL)
                .at(out)
                .exit()
                .build();
    }
}
