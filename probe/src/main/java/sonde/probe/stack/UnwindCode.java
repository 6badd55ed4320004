package sonde.probe.stack;

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
import static sonde.bpf.insn.JumpCondition.EQUAL;
import static sonde.bpf.insn.JumpCondition.GREATER;
import static sonde.bpf.insn.JumpCondition.GREATER_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.LESS;
import static sonde.bpf.insn.JumpCondition.LESS_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.NOT_EQUAL;

import java.util.LinkedHashMap;
import java.util.Map;
import sonde.binary.unwind.CompactRule;
import sonde.binary.unwind.CompactRule.Kind;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;

/**
 * The subprograms that unwind the user stack of the current task by rows ({@code
 * sonde.binary.unwind.CompactUnwindTable}), for any program type that may read user memory. They
 * find the mapping of an address by walking the maple tree of the process, so nothing has to follow
 * exec, mmap or fork; {@link UnwindTables} has the rows of each file.
 *
 * <p>A program calls {@link #fromRegisters} and then {@link #call}; afterwards {@link #COUNT}
 * frames are at {@link #FRAMES} of its scratch memory and {@link #END} says why there are no more.
 * Every subprogram has the scratch memory in R6.
 */
final class UnwindCode {
    // Scratch memory, bytes from its start. Registers by DWARF's number, 8 bytes each.
    static final int REGISTERS = 0;
    static final int IP = 128;

    /** Whether IP is the instruction itself and not a return address. */
    static final int EXACT = 136;

    /** Whether all registers are those of the frame. */
    static final int LEAF = 144;

    static final int ROOT = 152;
    static final int VDSO = 160;
    static final int COUNT = 168;

    /** Ordinal of {@link UserStackEnd}. */
    static final int END = 176;

    /** Frames that were found by rbp for want of a row. */
    static final int GUESSED = 184;

    /** Not 0 when the file of CURRENT has no table yet. */
    private static final int PENDING = 192;

    private static final int PC = 200;

    /** The mapping of PC: start, end, bias (file offset = pc + bias), pieces of its file. */
    private static final int CURRENT = 208;

    /** Offset of the set of known mappings that belongs to the task's memory, from SETS. */
    private static final int SET = 240;

    /** cs of the registers; 0x23 in a 32-bit program (__USER32_CS). */
    private static final int CS = 248;

    private static final int MAPPING_BYTES = 32;
    private static final int KEY = CS + 8;

    // A set: struct mm_struct, its count of changes, its tree; next place; mappings.
    private static final int SET_MM = 0;
    private static final int SET_SEQUENCE = 8;
    private static final int SET_ROOT = 16;
    private static final int VICTIM = 24;
    private static final int CACHE = 32;
    private static final int CACHED = 8;
    private static final int SET_BITS = 9;
    private static final int SETS_MASK = 3 << SET_BITS;

    /**
     * What is reported of a file without a table: the key, then tgid and the mapping's start, end.
     */
    private static final int REPORT = KEY;

    private static final int REPORT_TGID = KEY + UnwindTables.KEY_BYTES;
    private static final int REPORT_START = REPORT_TGID + 8;
    private static final int WORD = REPORT + UnwindTables.REPORT_BYTES;
    private static final int PIECES = WORD + 8;
    private static final int NODE = PIECES + 8;
    private static final int NODE_BYTES = 256;
    private static final int AREA = NODE + NODE_BYTES;
    private static final int AREA_BYTES = 256;
    private static final int SIGNAL = AREA + AREA_BYTES;
    private static final int SIGNAL_BYTES = 56;

    /** Room before the frames for the head of a record. */
    static final int HEAD = SIGNAL + SIGNAL_BYTES;

    static final int HEAD_BYTES = 48;
    static final int FRAMES = HEAD + HEAD_BYTES;
    static final int MOST_FRAMES = 255;
    private static final int SETS = FRAMES + 8 * (MOST_FRAMES + 1);
    private static final int PAGE = 4096;
    private static final int COPY_PAGES = 5;

    /** A copy of the stack with its head: the rest of its page, and some more. */
    static final int COPY = SETS + (4 << SET_BITS);

    static final int SCRATCH_BYTES = COPY + UserStackRecord.COPY_HEAD + (COPY_PAGES + 1) * PAGE;

    // DWARF's numbers.
    private static final int RBX = 8 * 3;
    private static final int RBP = 8 * 6;
    private static final int RSP = 8 * 7;

    /** Offsets of rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 … r15 in struct pt_regs. */
    private static final int[] PT_REGS = {
        80, 96, 88, 40, 104, 112, 32, 152, 72, 64, 56, 48, 24, 16, 8, 0
    };

    private static final int PT_REGS_IP = 128;
    private static final int PT_REGS_CS = 136;
    private static final int USER32_CS = 0x23;

    // include/linux/maple_tree.h: types of a node, its slots and pivots.
    private static final int MAPLE_ARANGE = 3;
    private static final int MOST_DEPTH = 6;
    private static final int VM_EXEC = 4;

    private final KernelFields fields;
    private final UnwindTables tables;
    private final Map<String, Integer> starts = new LinkedHashMap<>();
    private final Label unwind = new Label("unwind");
    private final Label frame = new Label("frame");
    private final Label findMapping = new Label("find_mapping");
    private final Label mapleStep = new Label("maple_step");
    private final Label findRow = new Label("find_row");

    UnwindCode(KernelFields fields, UnwindTables tables) {
        this.fields = fields;
        this.tables = tables;
    }

    /** Slots at which the subprograms begin, in the order of {@link #subprograms}. */
    Map<String, Integer> starts() {
        return starts;
    }

    /**
     * Writes instructions that take the registers of user mode. R6 = scratch memory; R7 = the task,
     * typed; R0 to R5 are lost. Goes to the label when the task has no user memory.
     *
     * @param sampled register with a context that begins with struct pt_regs, which may be of the
     *     kernel; null when the kernel is entered in any case
     */
    void fromRegisters(
            CodeBuilder code, @org.jspecify.annotations.Nullable BpfRegister sampled, Label none) {
        Label taken = new Label("registers taken");
        code.step("memory of the task")
                .call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .move(R7, R0)
                .load(Width.U64, R1, R7, fields.mm())
                .ifZero(R1, none)
                .load(Width.U64, R2, R1, fields.mapleRoot())
                .store(Width.U64, R6, ROOT, R2)
                .load(Width.U64, R3, R1, fields.vdso())
                .store(Width.U64, R6, VDSO, R3);
        keepOrForget(code);
        if (sampled != null) {
            Label kernel = new Label("in the kernel");
            code.step("sampled registers")
                    .load(Width.U64, R1, sampled, PT_REGS_CS)
                    .and(R1, 3)
                    .ifZero(R1, kernel);
            copyRegisters(code, sampled);
            code.jump(taken).at(kernel);
        }
        code.step("registers at the kernel's entry")
                .move(R1, R7)
                .call(HelperFunctionId.TASK_PT_REGS)
                .move(R5, R0);
        copyRegisters(code, R5);
        code.at(taken)
                .store(Width.U64, R6, EXACT, 1)
                .store(Width.U64, R6, LEAF, 1)
                .store(Width.U64, R6, COUNT, 0)
                .store(Width.U64, R6, END, UserStackEnd.LIMIT.ordinal())
                .store(Width.U64, R6, GUESSED, 0);
    }

    /**
     * R1 = struct mm_struct, typed. Mappings found for an earlier hit hold as long as the kernel
     * counts no change of this memory's mappings.
     */
    private void keepOrForget(CodeBuilder code) {
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

    private static void copyRegisters(CodeBuilder code, BpfRegister from) {
        for (int i = 0; i < PT_REGS.length; i++) {
            code.load(Width.U64, R1, from, PT_REGS[i]).store(Width.U64, R6, REGISTERS + 8 * i, R1);
        }
        code.load(Width.U64, R1, from, PT_REGS_IP)
                .store(Width.U64, R6, IP, R1)
                .load(Width.U64, R1, from, PT_REGS_CS)
                .store(Width.U64, R6, CS, R1);
    }

    /**
     * Writes instructions that copy the stack from the frame that has no table: R6 = scratch
     * memory; afterwards R8 = bytes of it, with its head, from {@link #COPY} on. Pages that cannot
     * be read end it.
     */
    void copyStack(CodeBuilder code, int event) {
        Label copied = new Label("copied");
        code.step("copy the stack")
                .store(Width.U32, R6, COPY + UserStackRecord.MAGIC, UserStackRecord.COPY_WORD)
                .store(Width.U32, R6, COPY + UserStackRecord.EVENT, event);
        for (int i = 0; i < UserStackRecord.COPY_REGISTERS.length; i++) {
            code.load(Width.U64, R1, R6, REGISTERS + 8 * UserStackRecord.COPY_REGISTERS[i])
                    .store(Width.U64, R6, COPY + UserStackRecord.COPIED_REGISTERS + 8 * i, R1);
        }
        code.load(Width.U64, R1, R6, EXACT)
                .store(Width.U64, R6, COPY + UserStackRecord.COPY_EXACT, R1)
                .load(Width.U64, R7, R6, RSP)
                .move(R1, R7)
                .and(R1, PAGE - 1)
                .move(R8, PAGE)
                .compute(AluOperation.SUBTRACT, R8, R1)
                .move(R1, R6)
                .add(R1, COPY + UserStackRecord.COPY_HEAD)
                .move(R2, R8)
                .move(R3, R7)
                .call(HelperFunctionId.PROBE_READ_USER)
                .add(R7, R8)
                .ifZero(R0, copied)
                .move(R8, 0)
                .at(copied);
        Label all = new Label("all copied");
        code.ifZero(R8, all);
        for (int page = 0; page < COPY_PAGES; page++) {
            code.move(R1, R6)
                    .add(R1, R8)
                    .add(R1, COPY + UserStackRecord.COPY_HEAD)
                    .move(R2, PAGE)
                    .move(R3, R7)
                    .call(HelperFunctionId.PROBE_READ_USER)
                    .ifNotZero(R0, all)
                    .add(R7, PAGE)
                    .add(R8, PAGE);
        }
        code.at(all)
                .store(Width.U64, R6, COPY + UserStackRecord.COUNT, R8)
                .add(R8, UserStackRecord.COPY_HEAD);
    }

    /** Writes the call. R6 = scratch memory; R0 to R5 are lost. */
    void call(CodeBuilder code) {
        Label compat = new Label("32 bits");
        Label done = new Label("unwound");
        code.step("unwind")
                .load(Width.U64, R1, R6, CS)
                .and(R1, 0xffff)
                .branch(EQUAL, R1, USER32_CS, compat)
                .move(R1, R6)
                .call(unwind)
                .jump(done)
                .at(compat)
                .load(Width.U64, R1, R6, IP)
                .store(Width.U64, R6, FRAMES, R1)
                .store(Width.U64, R6, COUNT, 1)
                .store(Width.U64, R6, END, UserStackEnd.COMPAT.ordinal())
                .at(done);
    }

    /** Writes the subprograms; behind the last instruction of the program. */
    void subprograms(CodeBuilder code) {
        begin(code, unwind);
        // bpf_loop(MOST_FRAMES, frame, the slot with the scratch memory, 0)
        code.store(Width.U64, R10, -8, R1)
                .move(R1, MOST_FRAMES)
                .function(R2, frame)
                .move(R3, R10)
                .add(R3, -8)
                .move(R4, 0)
                .call(HelperFunctionId.LOOP)
                .exit(0);
        oneFrame(code);
        mapping(code);
        maple(code);
        row(code);
    }

    private void begin(CodeBuilder code, Label name) {
        starts.put(name.toString(), code.slot());
        code.at(name).step(name.toString());
    }

    /** The frame at IP: keeps it, then sets the registers of its caller. Ends the loop by 1. */
    private void oneFrame(CodeBuilder code) {
        begin(code, frame);
        Label mapped = new Label("mapped");
        Label exact = new Label("exact");
        Label keep = new Label("keep");
        Label stop = new Label("stop");
        code.load(Width.U64, R6, R2, 0)
                .load(Width.U64, R7, R6, IP)
                .load(Width.U64, R1, R6, EXACT)
                .ifNotZero(R1, exact)
                .add(R7, -1)
                .at(exact)
                .store(Width.U64, R6, PC, R7)
                .move(R1, R6)
                .call(findMapping)
                .ifNotZero(R0, mapped);
        // A caller outside of code is none: what was taken for a return address is not one.
        code.load(Width.U64, R1, R6, COUNT)
                .ifZero(R1, keep)
                .move(R7, UserStackEnd.NO_CODE.ordinal())
                .jump(stop);
        code.at(keep).load(Width.U64, R1, R6, IP).store(Width.U64, R6, FRAMES, R1);
        code.store(Width.U64, R6, COUNT, 1).move(R7, UserStackEnd.NO_CODE.ordinal()).jump(stop);
        code.at(mapped)
                .step("keep the frame")
                .load(Width.U64, R2, R6, COUNT)
                .and(R2, MOST_FRAMES)
                .move(R1, R2)
                .shiftLeft(R1, 3)
                .add(R1, R6)
                .load(Width.U64, R3, R6, IP)
                .store(Width.U64, R1, FRAMES, R3)
                .add(R2, 1)
                .store(Width.U64, R6, COUNT, R2)
                .load(Width.U64, R1, R6, PENDING)
                .move(R7, UserStackEnd.NO_TABLE.ordinal())
                .ifNotZero(R1, stop)
                .move(R1, R6)
                .call(findRow)
                .move(R9, R0);
        new FrameStep(code, stop).write();
        code.at(stop).store(Width.U64, R6, END, R7).exit(1);
    }

    /** The part of {@link #oneFrame} that follows a rule: R9 the rule, R8 the CFA. */
    private static final class FrameStep {
        private final CodeBuilder code;
        private final Label stop;
        private final Label haveCfa = new Label("have the CFA");
        private final Label unreadable = new Label("unreadable");
        private final Label bad = new Label("bad rule");
        private final Label next = new Label("next");

        FrameStep(CodeBuilder code, Label stop) {
            this.code = code;
            this.stop = stop;
        }

        void write() {
            Label[] kinds = new Label[Kind.values().length];
            code.step("kind of the rule").move(R1, R9).and(R1, 15);
            for (Kind kind : Kind.values()) {
                kinds[kind.ordinal()] = new Label(kind.name());
                if (kind != Kind.NONE) {
                    code.branch(EQUAL, R1, kind.ordinal(), kinds[kind.ordinal()]);
                }
            }
            code.at(kinds[Kind.NONE.ordinal()]);
            guess();
            at(kinds, Kind.RSP);
            plus(RSP);
            at(kinds, Kind.RBP);
            plus(RBP);
            at(kinds, Kind.RBX);
            plus(RBX);
            at(kinds, Kind.PLT);
            stub();
            at(kinds, Kind.AT_RBP);
            dereference(RBP, 0);
            at(kinds, Kind.AT_RSP);
            dereference(RSP, 8);
            at(kinds, Kind.REGISTER);
            otherRegister();
            at(kinds, Kind.RETURN_REGISTER);
            returnRegister();
            at(kinds, Kind.SIGNAL);
            signal();
            at(kinds, Kind.END);
            code.move(R7, UserStackEnd.OUTERMOST.ordinal()).jump(stop);
            code.at(haveCfa);
            callee();
            code.at(next)
                    .step("the caller")
                    .store(Width.U64, R6, EXACT, 0)
                    .store(Width.U64, R6, LEAF, 0)
                    .exit(0)
                    .at(unreadable)
                    .move(R7, UserStackEnd.UNREADABLE.ordinal())
                    .jump(stop)
                    .at(bad)
                    .move(R7, UserStackEnd.BAD_RULE.ordinal())
                    .jump(stop);
        }

        private void at(Label[] kinds, Kind kind) {
            code.at(kinds[kind.ordinal()]).step(kind.name());
        }

        /** R2 = the rule's offset in bytes, unsigned. */
        private void offset() {
            code.move(R2, R9).shiftRight(R2, CompactRule.OFFSET_SHIFT).shiftLeft(R2, 3);
        }

        private void plus(int register) {
            offset();
            code.load(Width.U64, R8, R6, register).add(R8, R2).jump(haveCfa);
        }

        private void stub() {
            Label early = new Label("before the push");
            code.move(R2, R9)
                    .shiftRight(R2, CompactRule.OFFSET_SHIFT)
                    .load(Width.U64, R8, R6, RSP)
                    .add(R8, 8)
                    .load(Width.U64, R1, R6, IP)
                    .and(R1, 15)
                    .branch(LESS, R1, R2, early)
                    .add(R8, 8)
                    .at(early)
                    .jump(haveCfa);
        }

        /** R8 = *(register + offset) + more, the offset signed. */
        private void dereference(int register, int more) {
            code.move(R3, R9)
                    .shiftLeft(R3, 32)
                    .compute(AluOperation.SHIFT_RIGHT_SIGNED, R3, 32 + CompactRule.OFFSET_SHIFT)
                    .shiftLeft(R3, 3)
                    .load(Width.U64, R1, R6, register)
                    .add(R3, R1);
            read(WORD, unreadable);
            code.load(Width.U64, R8, R6, WORD).add(R8, more).jump(haveCfa);
        }

        /** R2 = the register whose number is in the place of rbx; only of the innermost frame. */
        private void numbered() {
            code.load(Width.U64, R1, R6, LEAF)
                    .ifZero(R1, bad)
                    .move(R2, R9)
                    .shiftRight(R2, CompactRule.RBX_SHIFT)
                    .and(R2, 15)
                    .shiftLeft(R2, 3)
                    .add(R2, R6)
                    .load(Width.U64, R8, R2, REGISTERS);
        }

        private void otherRegister() {
            numbered();
            offset();
            code.add(R8, R2);
            // What stands in the place of rbx is not a place where it is saved.
            code.and(R9, ~(CompactRule.SAVED_MASK << CompactRule.RBX_SHIFT)).jump(haveCfa);
        }

        private void returnRegister() {
            numbered();
            code.store(Width.U64, R6, IP, R8).jump(next);
        }

        /** Reads 8 bytes of user memory at R3 to a place of the scratch memory. */
        private void read(int place, Label failed) {
            code.move(R1, R6)
                    .add(R1, place)
                    .move(R2, 8)
                    .call(HelperFunctionId.PROBE_READ_USER)
                    .ifNotZero(R0, failed);
        }

        /**
         * Code without rows: a compiler at run time, or a file not read yet. By rbp, if it fits.
         */
        private void guess() {
            Label wrong = new Label("no frame pointer");
            code.step("by the frame pointer")
                    .load(Width.U64, R7, R6, RBP)
                    .load(Width.U64, R1, R6, RSP)
                    .branch(LESS, R7, R1, wrong)
                    .move(R2, R7)
                    .and(R2, 7)
                    .ifNotZero(R2, wrong)
                    .load(Width.U64, R1, R6, GUESSED)
                    .add(R1, 1)
                    .store(Width.U64, R6, GUESSED, R1)
                    .move(R3, R7)
                    .add(R3, 8);
            read(IP, unreadable);
            code.move(R3, R7);
            read(RBP, unreadable);
            code.add(R7, 16).store(Width.U64, R6, RSP, R7);
            ended();
            code.jump(next).at(wrong).move(R7, UserStackEnd.NO_ROW.ordinal()).jump(stop);
        }

        /** A return address of 0 is where a thread began. */
        private void ended() {
            Label goesOn = new Label("goes on");
            code.load(Width.U64, R1, R6, IP)
                    .ifNotZero(R1, goesOn)
                    .move(R7, UserStackEnd.OUTERMOST.ordinal())
                    .jump(stop)
                    .at(goesOn);
        }

        /** R8 = CFA: the return address, rbx and rbp of the caller. */
        private void callee() {
            Label grows = new Label("the stack gets smaller");
            code.step("the return address")
                    .load(Width.U64, R1, R6, RSP)
                    .branch(GREATER, R8, R1, grows)
                    .load(Width.U64, R2, R6, LEAF)
                    .ifZero(R2, bad)
                    .branch(LESS, R8, R1, bad)
                    .at(grows)
                    .move(R3, R8)
                    .add(R3, -8);
            read(IP, unreadable);
            saved(CompactRule.RBX_SHIFT, RBX);
            saved(CompactRule.RBP_SHIFT, RBP);
            code.store(Width.U64, R6, RSP, R8);
            ended();
        }

        private void saved(int shift, int register) {
            Label same = new Label("same");
            Label atRbp = new Label("at rbp");
            Label fetch = new Label("fetch");
            Label lost = new Label("lost");
            code.step("register " + register / 8)
                    .move(R1, R9)
                    .shiftRight(R1, shift)
                    .and(R1, CompactRule.SAVED_MASK)
                    .ifZero(R1, same)
                    .branch(EQUAL, R1, CompactRule.AT_RBP, atRbp)
                    .branch(EQUAL, R1, CompactRule.LOST, lost)
                    .shiftLeft(R1, 3)
                    .move(R3, R8)
                    .compute(AluOperation.SUBTRACT, R3, R1)
                    .jump(fetch)
                    .at(atRbp)
                    .load(Width.U64, R3, R6, RBP)
                    .at(fetch);
            read(register, unreadable);
            code.jump(same).at(lost).store(Width.U64, R6, register, 0).at(same);
        }

        /** struct rt_sigframe at rsp: sigcontext of its ucontext at 40, asm/sigcontext.h. */
        private void signal() {
            code.load(Width.U64, R3, R6, RSP)
                    .add(R3, 120)
                    .move(R1, R6)
                    .add(R1, SIGNAL)
                    .move(R2, SIGNAL_BYTES)
                    .call(HelperFunctionId.PROBE_READ_USER)
                    .ifNotZero(R0, unreadable)
                    .load(Width.U64, R1, R6, SIGNAL)
                    .store(Width.U64, R6, RBP, R1)
                    .load(Width.U64, R1, R6, SIGNAL + 8)
                    .store(Width.U64, R6, RBX, R1)
                    .load(Width.U64, R1, R6, SIGNAL + 40)
                    .store(Width.U64, R6, RSP, R1)
                    .load(Width.U64, R1, R6, SIGNAL + 48)
                    .store(Width.U64, R6, IP, R1)
                    .store(Width.U64, R6, LEAF, 0)
                    .store(Width.U64, R6, EXACT, 1)
                    .exit(0);
        }
    }

    /** R0 = 1 with the mapping of PC in CURRENT, 0 when there is no code. */
    private void mapping(CodeBuilder code) {
        begin(code, findMapping);
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
                    .call(mapleStep)
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
            @org.jspecify.annotations.Nullable BpfRegister address,
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
    private void maple(CodeBuilder code) {
        begin(code, mapleStep);
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

    /** R0 = the rule for PC in the file of CURRENT. */
    private void row(CodeBuilder code) {
        begin(code, findRow);
        Label none = new Label("none");
        Label found = new Label("found");
        code.move(R6, R1)
                .load(Width.U64, R9, R6, PC)
                .load(Width.U64, R1, R6, CURRENT + 16)
                .add(R9, R1)
                .move(R1, R9)
                .shiftRight(R1, 32)
                .ifNotZero(R1, none)
                .load(Width.U32, R7, R6, CURRENT + 24)
                .load(Width.U32, R8, R6, CURRENT + 28)
                .ifZero(R8, none);
        piece(code, none);
        // R8 = the rows of the piece, R2 = the lower bound, R3 = how many from there on
        for (int step = 0; step < UnwindTables.ROW_BITS + 1; step++) {
            Label above = new Label("above");
            Label below = new Label("below");
            code.branch(LESS_OR_EQUAL, R3, 1, found)
                    .move(R4, R3)
                    .shiftRight(R4, 1)
                    .move(R5, R2)
                    .add(R5, R4);
            rowAddress(code, R5, R1);
            code.load(Width.U32, R1, R1, 0)
                    .branch(GREATER, R1, R9, above)
                    .move(R2, R5)
                    .compute(AluOperation.SUBTRACT, R3, R4)
                    .jump(below)
                    .at(above)
                    .move(R3, R4)
                    .at(below);
        }
        code.at(found);
        rowAddress(code, R2, R1);
        code.load(Width.U32, R2, R1, 0)
                .branch(GREATER, R2, R9, none)
                .load(Width.U32, R0, R1, 4)
                .exit()
                .at(none)
                .exit(0);
    }

    private static void rowAddress(CodeBuilder code, BpfRegister row, BpfRegister to) {
        code.move(to, row).and(to, (1 << UnwindTables.ROW_BITS) - 1).shiftLeft(to, 3).add(to, R8);
    }

    /**
     * R7 = first piece, R8 = number of pieces, R9 = offset in the file. Afterwards R8 = the values
     * of its chunk, R2 = its first row, R3 = the number of its rows.
     */
    private void piece(CodeBuilder code, Label none) {
        Label chosen = new Label("chosen");
        code.step("the piece of the file");
        for (int i = 1; i < UnwindTables.MOST_PIECES; i++) {
            // The next piece, as long as it does not begin behind the offset.
            code.branch(LESS_OR_EQUAL, R8, i, chosen)
                    .move(R1, R7)
                    .add(R1, 1)
                    .store(Width.U32, R10, -4, R1);
            lookUp(code, tables.pieces().fd());
            code.ifZero(R0, none)
                    .load(Width.U32, R1, R0, 0)
                    .branch(GREATER, R1, R9, chosen)
                    .add(R7, 1);
        }
        code.at(chosen).store(Width.U32, R10, -4, R7);
        lookUp(code, tables.pieces().fd());
        code.ifZero(R0, none)
                .load(Width.U32, R1, R0, 4)
                .store(Width.U32, R10, -4, R1)
                .load(Width.U32, R7, R0, 8)
                .load(Width.U32, R8, R0, 12);
        lookUp(code, tables.chunks().fd());
        code.ifZero(R0, none)
                .store(Width.U32, R10, -4, 0)
                .move(R1, R0)
                .move(R2, R10)
                .add(R2, -4)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, none)
                .move(R2, R7)
                .move(R3, R8)
                .move(R8, R0)
                .step("the row");
    }

    private static void lookUp(CodeBuilder code, int mapFd) {
        code.map(R1, mapFd).move(R2, R10).add(R2, -4).call(HelperFunctionId.MAP_LOOKUP_ELEM);
    }
}
