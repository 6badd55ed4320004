package sonde.probe.stack;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R5;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;
import static sonde.bpf.insn.JumpCondition.EQUAL;
import static sonde.bpf.insn.JumpCondition.GREATER;
import static sonde.bpf.insn.JumpCondition.GREATER_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.LESS;
import static sonde.bpf.insn.JumpCondition.LESS_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.NOT_EQUAL;
import static sonde.probe.stack.UnwindScratch.AREA;
import static sonde.probe.stack.UnwindScratch.AREA_BYTES;
import static sonde.probe.stack.UnwindScratch.CACHE;
import static sonde.probe.stack.UnwindScratch.CACHED;
import static sonde.probe.stack.UnwindScratch.CURRENT;
import static sonde.probe.stack.UnwindScratch.KEY;
import static sonde.probe.stack.UnwindScratch.MAPPING_BYTES;
import static sonde.probe.stack.UnwindScratch.NODE;
import static sonde.probe.stack.UnwindScratch.NODE_BYTES;
import static sonde.probe.stack.UnwindScratch.PC;
import static sonde.probe.stack.UnwindScratch.PENDING;
import static sonde.probe.stack.UnwindScratch.PIECES;
import static sonde.probe.stack.UnwindScratch.REPORT;
import static sonde.probe.stack.UnwindScratch.REPORT_START;
import static sonde.probe.stack.UnwindScratch.REPORT_TGID;
import static sonde.probe.stack.UnwindScratch.ROOT;
import static sonde.probe.stack.UnwindScratch.SET;
import static sonde.probe.stack.UnwindScratch.SETS;
import static sonde.probe.stack.UnwindScratch.SETS_MASK;
import static sonde.probe.stack.UnwindScratch.SET_MM;
import static sonde.probe.stack.UnwindScratch.SET_ROOT;
import static sonde.probe.stack.UnwindScratch.SET_SEQUENCE;
import static sonde.probe.stack.UnwindScratch.VDSO;
import static sonde.probe.stack.UnwindScratch.VICTIM;
import static sonde.probe.stack.UnwindScratch.WORD;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;

/**
 * The subprograms that find the mapping of an address: in a small memory of known mappings, else in
 * the maple tree of the process (include/linux/maple_tree.h).
 */
final class MappingCode {
    // include/linux/maple_tree.h: types of a node, its slots and pivots.
    private static final int MAPLE_ARANGE = 3;
    private static final int MOST_DEPTH = 6;
    private static final int VM_EXEC = 4;

    private final KernelFields fields;
    private final UnwindTables tables;
    private final Label step;

    /**
     * @param step where {@link #step} is
     */
    MappingCode(KernelFields fields, UnwindTables tables, Label step) {
        this.fields = fields;
        this.tables = tables;
        this.step = step;
    }

    /**
     * R1 = struct mm_struct, typed. Mappings found for an earlier hit hold as long as the kernel
     * counts no change of this memory's mappings.
     */
    void keepOrForget(CodeBuilder code) {
        Label forget = new Label("other mappings");
        Label same = new Label("same mappings");
        code.step("have the mappings changed")
                // Read back, a pointer is a number.
                .store(Width.U64, R6, SET, R1)
                .load(Width.U64, R5, R6, SET)
                .compute(AluOperation.MULTIPLY, R5, 0x61c88647)
                .shiftRight(R5, 20)
                .and(R5, SETS_MASK)
                .store(Width.U64, R6, SET, R5)
                .add(R5, R6);
        if (fields.lockSequence() >= 0) {
            code.load(Width.U32, R3, R1, fields.lockSequence())
                    .load(Width.U64, R4, R5, SETS + SET_MM)
                    .branch(NOT_EQUAL, R4, R1, forget)
                    .load(Width.U64, R4, R5, SETS + SET_SEQUENCE)
                    .branch(NOT_EQUAL, R4, R3, forget)
                    .load(Width.U64, R4, R5, SETS + SET_ROOT)
                    .branch(EQUAL, R4, R2, same)
                    .at(forget)
                    .store(Width.U64, R5, SETS + SET_MM, R1)
                    .store(Width.U64, R5, SETS + SET_SEQUENCE, R3)
                    .store(Width.U64, R5, SETS + SET_ROOT, R2);
        }
        code.store(Width.U64, R5, SETS + VICTIM, 0);
        for (int i = 0; i < CACHED; i++) {
            code.store(Width.U64, R5, SETS + CACHE + MAPPING_BYTES * i, 0)
                    .store(Width.U64, R5, SETS + CACHE + MAPPING_BYTES * i + 8, 0);
        }
        code.at(same);
    }

    /** R = the set of mappings of the task's memory. */
    private static void set(CodeBuilder code, BpfRegister to) {
        code.load(Width.U64, to, R6, SET).and(to, SETS_MASK).add(to, R6);
    }

    /** R0 = 1 with the mapping of PC in CURRENT, 0 when there is no code. */
    void find(CodeBuilder code) {
        Label none = new Label("none");
        Label found = new Label("found");
        code.move(R6, R1).store(Width.U64, R6, PENDING, 0).load(Width.U64, R7, R6, PC);
        set(code, R2);
        for (int i = 0; i < CACHED; i++) {
            Label other = new Label("other");
            int at = SETS + CACHE + MAPPING_BYTES * i;
            code.load(Width.U64, R1, R2, at)
                    .branch(LESS, R7, R1, other)
                    .load(Width.U64, R1, R2, at + 8)
                    .branch(GREATER_OR_EQUAL, R7, R1, other);
            for (int word = 0; word < MAPPING_BYTES; word += 8) {
                code.load(Width.U64, R1, R2, at + word).store(Width.U64, R6, CURRENT + word, R1);
            }
            code.exit(1).at(other);
        }
        // A root that is a node has the low bits 10 (xa_is_node), the nodes below have not.
        code.step("walk the tree")
                .load(Width.U64, R8, R6, ROOT)
                .move(R1, R8)
                .and(R1, 3)
                .branch(NOT_EQUAL, R1, 2, none);
        for (int depth = 0; depth < MOST_DEPTH; depth++) {
            code.branch(LESS_OR_EQUAL, R8, 4096, none)
                    .move(R9, R8)
                    .shiftRight(R9, 3)
                    .and(R9, 15)
                    .move(R1, R6)
                    .move(R2, R8)
                    .call(step)
                    .move(R8, R0)
                    .branch(LESS_OR_EQUAL, R9, 1, found);
        }
        code.jump(none).at(found).step("the mapping").ifZero(R8, none);
        area(code, none);
        code.at(none).exit(0);
    }

    /** R8 = struct vm_area_struct. */
    private void area(CodeBuilder code, Label none) {
        Label known = new Label("known");
        Label anonymous = new Label("anonymous");
        Label haveKey = new Label("have the key");
        Label keep = new Label("keep");
        Label pending = new Label("pending");
        readKernel(code, AREA, areaBytes(), R8, none);
        code.load(Width.U64, R1, R6, AREA + fields.vmStart())
                .branch(LESS, R7, R1, none)
                .store(Width.U64, R6, CURRENT, R1)
                .load(Width.U64, R2, R6, AREA + fields.vmEnd())
                .branch(GREATER_OR_EQUAL, R7, R2, none)
                .store(Width.U64, R6, CURRENT + 8, R2)
                .load(Width.U64, R3, R6, AREA + fields.vmFlags())
                .and(R3, VM_EXEC)
                .ifZero(R3, none)
                .load(Width.U64, R9, R6, AREA + fields.vmFile())
                .ifZero(R9, anonymous)
                .step("its file")
                .load(Width.U64, R3, R6, AREA + fields.vmPageOffset())
                .shiftLeft(R3, 12)
                .compute(AluOperation.SUBTRACT, R3, R1)
                .store(Width.U64, R6, CURRENT + 16, R3);
        code.move(R3, R9).add(R3, fields.inode());
        readKernel(code, WORD, 8, null, none);
        code.load(Width.U64, R9, R6, WORD).move(R3, R9).add(R3, fields.inodeNumber());
        readKernel(code, KEY, 8, null, none);
        code.move(R3, R9).add(R3, fields.modified());
        readKernel(code, KEY + 12, 4, null, none);
        code.move(R3, R9).add(R3, fields.superBlock());
        readKernel(code, WORD, 8, null, none);
        code.load(Width.U64, R3, R6, WORD).add(R3, fields.device());
        readKernel(code, KEY + 8, 4, null, none);
        code.jump(haveKey)
                .at(anonymous)
                .step("no file")
                .store(Width.U64, R6, CURRENT + 24, 0)
                .load(Width.U64, R2, R6, VDSO)
                .branch(NOT_EQUAL, R1, R2, keep)
                .negate(R1)
                .store(Width.U64, R6, CURRENT + 16, R1)
                .store(Width.U64, R6, KEY, 0)
                .store(Width.U64, R6, KEY + 8, UnwindTables.VDSO_DEVICE)
                .at(haveKey)
                .step("its table")
                .map(R1, tables.files().fd())
                .move(R2, R6)
                .add(R2, KEY)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifNotZero(R0, known);
        report(code);
        code.store(Width.U64, R6, CURRENT + 24, 0)
                // A table may come before the next hit: not to be remembered.
                .at(pending)
                .store(Width.U64, R6, PENDING, 1)
                .exit(1)
                .at(known)
                .load(Width.U64, R1, R0, 0)
                .store(Width.U64, R6, CURRENT + 24, R1)
                .ifZero(R1, pending)
                .at(keep);
        remember(code);
        code.exit(1);
    }

    private int areaBytes() {
        int last =
                Math.max(
                        Math.max(fields.vmEnd(), fields.vmFlags()),
                        Math.max(fields.vmFile(), fields.vmPageOffset()));
        if (last + 8 > AREA_BYTES) {
            throw new IllegalStateException("struct vm_area_struct: field at " + last);
        }
        return last + 8;
    }

    /** R1 = place in the scratch memory, R2 = size, R3 = address unless it is there already. */
    private static void readKernel(
            CodeBuilder code,
            int place,
            int sizeBytes,
            @Nullable BpfRegister address,
            Label failed) {
        if (address != null) {
            code.move(R3, address);
        }
        code.move(R1, R6)
                .add(R1, place)
                .move(R2, sizeBytes)
                .call(HelperFunctionId.PROBE_READ_KERNEL)
                .ifNotZero(R0, failed);
    }

    /** Tells user space of a file without a table, once: the key gets an empty one meanwhile. */
    private void report(CodeBuilder code) {
        Label told = new Label("told");
        code.step("report a file without a table")
                .store(Width.U64, R6, PIECES, 0)
                .map(R1, tables.files().fd())
                .move(R2, R6)
                .add(R2, KEY)
                .move(R3, R6)
                .add(R3, PIECES)
                .move(R4, 1) // BPF_NOEXIST
                .call(HelperFunctionId.MAP_UPDATE_ELEM)
                .ifNotZero(R0, told)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .shiftRight(R0, 32)
                .store(Width.U64, R6, REPORT_TGID, R0)
                .load(Width.U64, R1, R6, CURRENT)
                .store(Width.U64, R6, REPORT_START, R1)
                .load(Width.U64, R1, R6, CURRENT + 8)
                .store(Width.U64, R6, REPORT_START + 8, R1)
                .map(R1, tables.reports().fd())
                .move(R2, R6)
                .add(R2, REPORT)
                .move(R3, UnwindTables.REPORT_BYTES)
                .move(R4, 0)
                .call(HelperFunctionId.RINGBUF_OUTPUT)
                .at(told);
    }

    /** Puts CURRENT over the oldest of its set. */
    private static void remember(CodeBuilder code) {
        code.step("remember the mapping");
        set(code, R3);
        code.load(Width.U64, R1, R3, SETS + VICTIM)
                .move(R2, R1)
                .add(R2, 1)
                .store(Width.U64, R3, SETS + VICTIM, R2)
                .and(R1, CACHED - 1)
                .shiftLeft(R1, 5)
                .add(R1, R3);
        for (int word = 0; word < MAPPING_BYTES; word += 8) {
            code.load(Width.U64, R2, R6, CURRENT + word)
                    .store(Width.U64, R1, SETS + CACHE + word, R2);
        }
    }

    /**
     * R1 = scratch memory, R2 = encoded node; R0 = the slot of PC. A node is aligned to 256 bytes
     * (struct maple_range_64: parent, 15 pivots, 16 slots; struct maple_arange_64: parent, 9
     * pivots, 10 slots); a pivot of 0 behind the first ends it.
     */
    void step(CodeBuilder code) {
        Label none = new Label("none");
        Label wide = new Label("arange");
        code.move(R6, R1)
                .move(R9, R2)
                .shiftRight(R9, 3)
                .and(R9, 15)
                .move(R8, R2)
                .and(R8, -NODE_BYTES);
        readKernel(code, NODE, NODE_BYTES, R8, none);
        code.load(Width.U64, R7, R6, PC).branch(EQUAL, R9, MAPLE_ARANGE, wide);
        code.branch(GREATER, R9, MAPLE_ARANGE, none);
        slots(code, 15);
        code.at(wide);
        slots(code, 9);
        code.at(none).exit(0);
    }

    private static void slots(CodeBuilder code, int pivots) {
        Label[] taken = new Label[pivots + 1];
        for (int i = 0; i <= pivots; i++) {
            taken[i] = new Label("slot " + i);
        }
        for (int i = 0; i < pivots; i++) {
            code.load(Width.U64, R1, R6, NODE + 8 + 8 * i);
            if (i > 0) {
                code.ifZero(R1, taken[i]);
            }
            code.branch(LESS_OR_EQUAL, R7, R1, taken[i]);
        }
        for (int i = pivots; i >= 0; i--) {
            code.at(taken[i]).load(Width.U64, R0, R6, NODE + 8 * (1 + pivots + i)).exit();
        }
    }
}
