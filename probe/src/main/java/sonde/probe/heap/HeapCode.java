package sonde.probe.heap;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;
import static sonde.bpf.insn.JumpCondition.EQUAL;
import static sonde.bpf.insn.JumpCondition.LESS;
import static sonde.bpf.insn.JumpCondition.LESS_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.NOT_EQUAL;
import static sonde.bpf.insn.Width.U32;
import static sonde.bpf.insn.Width.U64;
import static sonde.probe.heap.HeapLayout.BLOCK;
import static sonde.probe.heap.HeapLayout.BLOCK_BYTES;
import static sonde.probe.heap.HeapLayout.BLOCK_KEY;
import static sonde.probe.heap.HeapLayout.BYTES;
import static sonde.probe.heap.HeapLayout.CALLS;
import static sonde.probe.heap.HeapLayout.DELETED;
import static sonde.probe.heap.HeapLayout.FAILED;
import static sonde.probe.heap.HeapLayout.FRAMES;
import static sonde.probe.heap.HeapLayout.FREES;
import static sonde.probe.heap.HeapLayout.IMAGE;
import static sonde.probe.heap.HeapLayout.IN_CALL;
import static sonde.probe.heap.HeapLayout.KIND;
import static sonde.probe.heap.HeapLayout.LAST;
import static sonde.probe.heap.HeapLayout.LIVE_BLOCKS;
import static sonde.probe.heap.HeapLayout.LIVE_BYTES;
import static sonde.probe.heap.HeapLayout.LOST_BLOCKS;
import static sonde.probe.heap.HeapLayout.LOST_STACKS;
import static sonde.probe.heap.HeapLayout.MISSED_FREES;
import static sonde.probe.heap.HeapLayout.MOST_FRAMES;
import static sonde.probe.heap.HeapLayout.NO_SUMS;
import static sonde.probe.heap.HeapLayout.OLD;
import static sonde.probe.heap.HeapLayout.PEAK_BLOCKS;
import static sonde.probe.heap.HeapLayout.PEAK_BYTES;
import static sonde.probe.heap.HeapLayout.PEAK_NANOS;
import static sonde.probe.heap.HeapLayout.PLACE;
import static sonde.probe.heap.HeapLayout.PROCESS_BYTES;
import static sonde.probe.heap.HeapLayout.SAMPLES;
import static sonde.probe.heap.HeapLayout.SCRATCH;
import static sonde.probe.heap.HeapLayout.SIZE;
import static sonde.probe.heap.HeapLayout.SIZES;
import static sonde.probe.heap.HeapLayout.SIZE_CLASSES;
import static sonde.probe.heap.HeapLayout.STACK_KEY;
import static sonde.probe.heap.HeapLayout.TEMPORARY;
import static sonde.probe.heap.HeapLayout.UNKNOWN_FREES;
import static sonde.probe.heap.HeapLayout.VERSION;
import static sonde.probe.heap.HeapLayout.WHOLE;

import sonde.bpf.BpfMap;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;

/**
 * The programs at the begin and the end of an allocator's functions. Each has R9 = its context, R8
 * = the sums of the process and R7 = the memory of the thread, which no other run uses: a uprobe
 * may be preempted, but a thread is in one at a time.
 *
 * <p>The share of a stack in the peak is kept without a snapshot. The process counts its peaks; the
 * first change of a stack's sums after a peak copies them, since they are still those of that
 * moment.
 */
final class HeapCode {
    // struct pt_regs of x86-64
    private static final int[] ARGUMENTS = {112, 104, 96};
    private static final int RESULT = 80;
    private static final int STACK_POINTER = 152;

    private static final int TGID = -4;
    private static final int CREATE = 1; // BPF_LOCAL_STORAGE_GET_F_CREATE
    private static final int NEW = 1; // BPF_NOEXIST
    private static final int EEXIST = 17;
    private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;
    private static final int FRAMES_AT_ONCE = 8;

    private final HeapMaps maps;
    private final CodeBuilder code = new CodeBuilder();
    private final Label out = new Label("out");
    private int labels;
    private int stackCall = -1;

    HeapCode(HeapMaps maps) {
        this.maps = maps;
    }

    /** The maps of the programs. */
    record HeapMaps(
            BpfMap processes,
            BpfMap threads,
            BpfMap blocks,
            BpfMap stacks,
            BpfMap frames,
            BpfMap faults) {}

    /** Slot of the call of the unwinder; -1 for none. */
    int stackCall() {
        return stackCall;
    }

    private Label label(String name) {
        return new Label(name + " " + labels++);
    }

    private CodeBuilder find(BpfMap map, BpfRegister key, int offset) {
        return code.map(R1, map.fd())
                .move(R2, key)
                .add(R2, offset)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM);
    }

    private CodeBuilder put(BpfMap map, int key, int value, int mode) {
        return code.map(R1, map.fd())
                .move(R2, R7)
                .add(R2, key)
                .move(R3, R7)
                .add(R3, value)
                .move(R4, mode)
                .call(HelperFunctionId.MAP_UPDATE_ELEM);
    }

    private void count(BpfRegister sums, int field) {
        code.move(R1, 1).atomicAdd(U64, sums, field, R1);
    }

    /** Adds as many as the new block stands for. */
    private void blocks(BpfRegister sums, int field) {
        code.load(U64, R1, R7, BLOCK + 24).atomicAdd(U64, sums, field, R1);
    }

    /** Sets R7 to R9 and the keys' process, or goes out. */
    private void begin() {
        Label there = label("thread");
        code.move(R9, R1)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .shiftRight(R0, 32)
                .store(U32, R10, TGID, R0);
        find(maps.processes(), R10, TGID).ifZero(R0, out).move(R8, R0);
        code.call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .move(R2, R0)
                .map(R1, maps.threads().fd())
                .move(R3, 0)
                .move(R4, CREATE)
                .call(HelperFunctionId.TASK_STORAGE_GET)
                .move(R7, R0)
                .ifNotZero(R7, there);
        count(R8, LOST_STACKS);
        code.jump(out).at(there);
        code.load(U32, R1, R10, TGID)
                .store(U32, R7, BLOCK_KEY + 8, R1)
                .store(U32, R7, STACK_KEY + 8, R1)
                .load(U64, R1, R8, IMAGE)
                .store(U32, R7, BLOCK_KEY + 12, R1)
                .store(U32, R7, STACK_KEY + 12, R1);
    }

    /** Goes out when the thread is in an outer call: the stack grows down. */
    private void onlyOuter() {
        code.load(U64, R6, R9, STACK_POINTER).load(U64, R1, R7, IN_CALL).branch(LESS, R6, R1, out);
    }

    /** At the begin of a function that allocates. */
    ProgramCode enter() {
        begin();
        onlyOuter();
        Label known = label("known");
        Label none = label("no old block");
        Label resize = label("resize");
        code.move(R1, R9)
                .call(HelperFunctionId.GET_ATTACH_COOKIE)
                .store(U64, R7, KIND, R0)
                .move(R4, 0)
                .load(U64, R1, R9, ARGUMENTS[0])
                .load(U64, R2, R9, ARGUMENTS[1])
                .load(U64, R3, R9, ARGUMENTS[2]);
        Label[] kinds = new Label[AllocatorCall.FREE.ordinal()];
        for (int i = 0; i < kinds.length; i++) {
            kinds[i] = label("kind");
            code.branch(EQUAL, R0, i, kinds[i]);
        }
        code.jump(out);
        code.at(kinds[0]).store(U64, R7, SIZE, R1).jump(none);
        code.at(kinds[1])
                .compute(AluOperation.MULTIPLY, R1, R2)
                .store(U64, R7, SIZE, R1)
                .jump(none);
        code.at(kinds[2]).store(U64, R7, SIZE, R2).jump(none);
        code.at(kinds[3]).store(U64, R7, SIZE, R2).jump(resize);
        code.at(kinds[4])
                .compute(AluOperation.MULTIPLY, R2, R3)
                .store(U64, R7, SIZE, R2)
                .jump(resize);
        code.at(kinds[5]).store(U64, R7, SIZE, R3).move(R4, R1).jump(none);
        code.at(resize).move(R4, R1);
        takeOld(known);
        code.jump(known).at(none).store(U64, R7, OLD, -1);
        code.at(known).store(U64, R7, PLACE, R4).store(U64, R7, IN_CALL, R6);
        return code.at(out).exit(0).build();
    }

    /** R4 = the block of a realloc: another thread may get its address before the call returns. */
    private void takeOld(Label known) {
        Label none = label("no block");
        Label sameCall = label("another function");
        code.load(U64, R1, R7, IN_CALL)
                .branch(NOT_EQUAL, R1, R6, sameCall)
                .load(U64, R1, R7, PLACE)
                // reallocarray went on to realloc: the block has been taken.
                .branch(EQUAL, R1, R4, known)
                .at(sameCall)
                .store(U64, R7, OLD, -1)
                .ifZero(R4, known)
                .store(U64, R7, PLACE, R4)
                .store(U64, R7, BLOCK_KEY, R4);
        take(none);
        code.at(none).load(U64, R4, R7, PLACE);
    }

    /** Moves the block of the key into OLD, or counts that it is unknown. */
    private void take(Label done) {
        Label found = label("found");
        find(maps.blocks(), R7, BLOCK_KEY).ifNotZero(R0, found);
        count(R8, UNKNOWN_FREES);
        code.jump(done).at(found);
        copyBlock(R0);
        code.map(R1, maps.blocks().fd())
                .move(R2, R7)
                .add(R2, BLOCK_KEY)
                .call(HelperFunctionId.MAP_DELETE_ELEM);
    }

    private void copyBlock(BpfRegister from) {
        for (int at = 0; at < BLOCK_BYTES; at += 8) {
            code.load(U64, R1, from, at).store(U64, R7, OLD + at, R1);
        }
    }

    /** Subtracts the block in OLD, whose address is in BLOCK_KEY. */
    private void subtract() {
        Label none = label("nothing to subtract");
        Label longer = label("not temporary");
        Label noSums = label("no sums");
        code.load(U64, R1, R7, OLD).branch(EQUAL, R1, -1, none);
        count(R8, FREES);
        code.load(U64, R1, R7, OLD + 8).store(U64, R7, STACK_KEY, R1);
        find(maps.stacks(), R7, STACK_KEY).ifZero(R0, noSums);
        keepPeak(R0);
        less(R0);
        code.load(U64, R1, R7, BLOCK_KEY)
                .load(U64, R2, R7, LAST)
                .branch(NOT_EQUAL, R1, R2, longer)
                .load(U64, R1, R7, OLD + 24)
                .atomicAdd(U64, R0, TEMPORARY, R1)
                .atomicAdd(U64, R8, TEMPORARY, R1)
                .at(longer)
                .at(noSums);
        less(R8);
        code.at(none);
    }

    private void less(BpfRegister sums) {
        code.load(U64, R1, R7, OLD)
                .negate(R1)
                .atomicAdd(U64, sums, LIVE_BYTES, R1)
                .load(U64, R1, R7, OLD + 24)
                .negate(R1)
                .atomicAdd(U64, sums, LIVE_BLOCKS, R1);
    }

    /** Before a stack's sums change. */
    private void keepPeak(BpfRegister sums) {
        Label same = label("no peak since");
        code.load(U64, R1, R8, VERSION)
                .load(U64, R2, sums, VERSION)
                .branch(EQUAL, R1, R2, same)
                .load(U64, R2, sums, LIVE_BYTES)
                .store(U64, sums, PEAK_BYTES, R2)
                .load(U64, R2, sums, LIVE_BLOCKS)
                .store(U64, sums, PEAK_BLOCKS, R2)
                .store(U64, sums, VERSION, R1)
                .at(same);
    }

    /** At the end of a function that allocates. */
    ProgramCode leave() {
        begin();
        Label address = label("address");
        Label failed = label("failed");
        Label freed = label("freed");
        code.load(U64, R1, R7, IN_CALL)
                .ifZero(R1, out)
                .load(U64, R2, R9, STACK_POINTER)
                .add(R2, -8)
                .branch(NOT_EQUAL, R1, R2, out)
                .store(U64, R7, IN_CALL, 0)
                .load(U64, R6, R9, RESULT)
                .load(U64, R1, R7, KIND)
                .branch(NOT_EQUAL, R1, AllocatorCall.PLACED.ordinal(), address)
                .ifNotZero(R6, failed)
                .move(R1, R7)
                .add(R1, BLOCK_KEY)
                .move(R2, 8)
                .load(U64, R3, R7, PLACE)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, failed)
                .load(U64, R6, R7, BLOCK_KEY)
                .at(address);
        code.load(U64, R1, R7, PLACE).store(U64, R7, BLOCK_KEY, R1).ifNotZero(R6, freed);
        // realloc(block, 0) frees it.
        code.load(U64, R1, R7, OLD)
                .branch(EQUAL, R1, -1, failed)
                .load(U64, R1, R7, SIZE)
                .move(R6, 0)
                .ifZero(R1, freed);
        put(maps.blocks(), BLOCK_KEY, OLD, NEW);
        code.at(failed);
        count(R8, FAILED);
        code.jump(out).at(freed);
        subtract();
        code.ifZero(R6, out)
                .store(U64, R7, BLOCK_KEY, R6)
                .store(U64, R7, LAST, R6)
                .store(U64, R7, DELETED, 0);
        code.store(U64, R7, BLOCK + 24, 1);
        stack();
        block();
        return code.at(out).exit(0).build();
    }

    /** Unwinds the stack of the context R9, and makes its key. */
    private void unwind() {
        Label hashed = label("hashed");
        code.move(R1, R7)
                .add(R1, FRAMES)
                .move(R2, 8 * MOST_FRAMES)
                .move(R3, R7)
                .add(R3, SCRATCH)
                .move(R4, R9);
        Label self = label("unwinder");
        stackCall = code.slot();
        code.call(self).at(self);
        code.move(R1, MULTIPLIER).move(R2, 0).move(R3, 0);
        for (int i = 0; i < MOST_FRAMES; i++) {
            if (i > 0 && i % FRAMES_AT_ONCE == 0) {
                code.ifZero(R3, hashed);
            }
            code.load(U64, R3, R7, FRAMES + 8 * i)
                    .compute(AluOperation.XOR, R2, R3)
                    .compute(AluOperation.MULTIPLY, R2, R1)
                    .move(R4, R2)
                    .shiftRight(R4, 29)
                    .compute(AluOperation.XOR, R2, R4);
        }
        code.at(hashed).store(U64, R7, STACK_KEY, R2);
    }

    /** Sets R9 to the sums of the stack; 0 where there is no room. */
    private void stack() {
        Label there = label("there");
        Label full = label("full");
        unwind();
        find(maps.stacks(), R7, STACK_KEY).ifNotZero(R0, there);
        put(maps.frames(), STACK_KEY, FRAMES, 0).ifNotZero(R0, full);
        put(maps.stacks(), STACK_KEY, NO_SUMS, NEW);
        find(maps.stacks(), R7, STACK_KEY).ifNotZero(R0, there);
        code.at(full);
        count(R8, LOST_STACKS);
        code.move(R0, 0).at(there).move(R9, R0);
    }

    /** Adds the block at R6 to the sums R9 and R8. */
    private void block() {
        Label kept = label("kept");
        Label lost = label("lost");
        Label counted = label("counted");
        code.load(U64, R1, R7, SIZE)
                .store(U64, R7, BLOCK, R1)
                .load(U64, R1, R7, STACK_KEY)
                .store(U64, R7, BLOCK + 8, R1)
                .call(HelperFunctionId.KTIME_GET_NS)
                .store(U64, R7, BLOCK + 16, R0);
        put(maps.blocks(), BLOCK_KEY, BLOCK, NEW).ifZero(R0, kept);
        code.branch(NOT_EQUAL, R0, -EEXIST, lost);
        find(maps.blocks(), R7, BLOCK_KEY).ifZero(R0, lost);
        copyBlock(R0);
        count(R8, MISSED_FREES);
        code.store(U64, R7, LAST, 0);
        subtract();
        code.store(U64, R7, LAST, R6).load(U64, R1, R7, BLOCK + 8).store(U64, R7, STACK_KEY, R1);
        put(maps.blocks(), BLOCK_KEY, BLOCK, 0).ifZero(R0, kept);
        code.at(lost);
        count(R8, LOST_BLOCKS);
        calls(R8);
        code.ifZero(R9, out);
        calls(R9);
        code.jump(out).at(kept).ifZero(R9, counted);
        keepPeak(R9);
        calls(R9);
        code.load(U64, R1, R7, SIZE).atomicAdd(U64, R9, LIVE_BYTES, R1);
        blocks(R9, LIVE_BLOCKS);
        code.at(counted);
        calls(R8);
        blocks(R8, LIVE_BLOCKS);
        code.load(U64, R2, R7, SIZE)
                .move(R1, R2)
                .atomic(AtomicOperation.FETCH_ADD, U64, R8, LIVE_BYTES, R1)
                .add(R1, R2)
                .load(U64, R2, R8, PEAK_BYTES)
                .branch(LESS_OR_EQUAL, R1, R2, out)
                .store(U64, R8, PEAK_BYTES, R1)
                .load(U64, R1, R8, LIVE_BLOCKS)
                .store(U64, R8, PEAK_BLOCKS, R1)
                .load(U64, R1, R7, BLOCK + 16)
                .store(U64, R8, PEAK_NANOS, R1);
        count(R8, VERSION);
    }

    private void calls(BpfRegister sums) {
        blocks(sums, CALLS);
        code.load(U64, R1, R7, SIZE).atomicAdd(U64, sums, BYTES, R1);
        if (sums != R8) {
            return;
        }
        code.move(R2, 0);
        for (int bits = 32; bits > 0; bits >>= 1) {
            Label small = label("smaller");
            code.move(R3, R1).shiftRight(R3, bits).ifZero(R3, small);
            code.move(R1, R3).add(R2, bits).at(small);
        }
        // R1 is the highest bit, or 0.
        code.and(R2, SIZE_CLASSES - 1)
                .shiftLeft(R2, 3)
                .move(R3, R8)
                .add(R3, R2)
                .load(U64, R1, R7, BLOCK + 24)
                .atomicAdd(U64, R3, SIZES, R1);
    }

    /** At the function that the library in a process calls for a block that it has sampled. */
    ProgramCode sampled() {
        begin();
        count(R8, SAMPLES);
        code.load(U64, R6, R9, ARGUMENTS[0])
                .store(U64, R7, BLOCK_KEY, R6)
                .load(U64, R1, R9, ARGUMENTS[1])
                .store(U64, R7, SIZE, R1)
                .load(U64, R1, R9, ARGUMENTS[2])
                .store(U64, R7, BLOCK + 24, R1)
                .store(U64, R7, LAST, 0);
        stack();
        block();
        return code.at(out).exit(0).build();
    }

    /** At the begin of a function that frees. */
    ProgramCode free() {
        begin();
        onlyOuter();
        Label plain = label("not from delete");
        code.load(U64, R6, R9, ARGUMENTS[0])
                .ifZero(R6, out)
                .load(U64, R1, R7, DELETED)
                .store(U64, R7, DELETED, 0)
                // operator delete, just counted, went on to free.
                .branch(EQUAL, R1, R6, out)
                .move(R1, R9)
                .call(HelperFunctionId.GET_ATTACH_COOKIE)
                .branch(NOT_EQUAL, R0, AllocatorCall.DELETE.ordinal(), plain)
                .store(U64, R7, DELETED, R6)
                .at(plain)
                .store(U64, R7, IN_CALL, 0)
                .store(U64, R7, BLOCK_KEY, R6)
                .store(U64, R7, OLD, -1);
        Label unknown = label("unknown");
        take(unknown);
        subtract();
        code.jump(out).at(unknown);
        // Before that it may be a block that was made when nobody watched.
        code.load(U64, R1, R8, WHOLE).ifZero(R1, out);
        unwind();
        Label there = label("there");
        find(maps.faults(), R7, STACK_KEY).ifNotZero(R0, there);
        put(maps.frames(), STACK_KEY, FRAMES, 0).ifNotZero(R0, out);
        put(maps.faults(), STACK_KEY, NO_SUMS, NEW);
        find(maps.faults(), R7, STACK_KEY).ifZero(R0, out);
        code.at(there).store(U64, R0, 8, R6);
        count(R0, 0);
        return code.at(out).exit(0).build();
    }

    /** At sched_process_exec: nothing of the heap is left. */
    ProgramCode execute() {
        code.call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .shiftRight(R0, 32)
                .store(U32, R10, TGID, R0);
        find(maps.processes(), R10, TGID).ifZero(R0, out);
        code.load(U64, R2, R0, IMAGE).add(R2, 1);
        for (int at = 0; at < PROCESS_BYTES; at += 8) {
            code.store(U64, R0, at, 0);
        }
        code.store(U64, R0, IMAGE, R2).store(U64, R0, WHOLE, 1);
        return code.at(out).exit(0).build();
    }
}
