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
import static sonde.bpf.insn.JumpCondition.LESS;
import static sonde.bpf.insn.JumpCondition.LESS_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.NOT_EQUAL;
import static sonde.probe.stack.UnwindScratch.CALL;
import static sonde.probe.stack.UnwindScratch.COUNT;
import static sonde.probe.stack.UnwindScratch.CS;
import static sonde.probe.stack.UnwindScratch.CURRENT;
import static sonde.probe.stack.UnwindScratch.END;
import static sonde.probe.stack.UnwindScratch.EXACT;
import static sonde.probe.stack.UnwindScratch.FRAMES;
import static sonde.probe.stack.UnwindScratch.GUESSED;
import static sonde.probe.stack.UnwindScratch.IP;
import static sonde.probe.stack.UnwindScratch.LEAF;
import static sonde.probe.stack.UnwindScratch.MM;
import static sonde.probe.stack.UnwindScratch.MOST_FRAMES;
import static sonde.probe.stack.UnwindScratch.PAGE;
import static sonde.probe.stack.UnwindScratch.PC;
import static sonde.probe.stack.UnwindScratch.PENDING;
import static sonde.probe.stack.UnwindScratch.REGISTERS;
import static sonde.probe.stack.UnwindScratch.ROOT;
import static sonde.probe.stack.UnwindScratch.RSP;
import static sonde.probe.stack.UnwindScratch.VDSO;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
 * frames are at {@link UnwindScratch#FRAMES} of its scratch memory and {@link UnwindScratch#END}
 * says why there are no more. Every subprogram has the scratch memory in R6.
 */
final class UnwindCode {

    /** Offsets of rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 … r15 in struct pt_regs. */
    private static final int[] PT_REGS = {
        80, 96, 88, 40, 104, 112, 32, 152, 72, 64, 56, 48, 24, 16, 8, 0
    };

    private static final int PT_REGS_IP = 128;
    private static final int PT_REGS_CS = 136;
    private static final int PT_REGS_ORIG_AX = 120;
    private static final int NR_EXECVE = 59;
    private static final int NR_EXECVEAT = 322;
    private static final int USER32_CS = 0x23;

    private final KernelFields fields;
    private final MappingCode mappings;
    private final RowCode rows;
    private final Map<String, Integer> starts = new LinkedHashMap<>();
    private final Label unwind = new Label("unwind");
    private final Label frame = new Label("frame");
    private final Label findMapping = new Label("find_mapping");
    private final Label mapleStep = new Label("maple_step");
    private final Label findRow = new Label("find_row");
    private final Label returned = new Label("returned");
    private final Label java = new Label("java");
    private final UnwindTables tables;
    private final ReturnCode returns;
    private final PythonCode python;
    private final ScriptCode scripts;

    UnwindCode(KernelFields fields, UnwindTables tables) {
        this.fields = fields;
        this.tables = tables;
        mappings = new MappingCode(fields, tables, mapleStep);
        rows = new RowCode(tables);
        returns = new ReturnCode(fields, returned);
        python = new PythonCode(fields, tables);
        scripts = new ScriptCode(tables);
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
    void fromRegisters(CodeBuilder code, @Nullable BpfRegister sampled, Label none) {
        Label taken = new Label("registers taken");
        code.step("memory of the task")
                .call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .move(R7, R0)
                .load(Width.U64, R1, R7, fields.mm())
                .ifZero(R1, none)
                .store(Width.U64, R6, MM, R1)
                .load(Width.U64, R2, R1, fields.mapleRoot())
                .store(Width.U64, R6, ROOT, R2)
                .load(Width.U64, R3, R1, fields.vdso())
                .store(Width.U64, R6, VDSO, R3);
        mappings.keepOrForget(code);
        returns.begin(code);
        if (sampled != null) {
            Label kernel = new Label("in the kernel");
            code.step("sampled registers")
                    .load(Width.U64, R1, sampled, PT_REGS_CS)
                    .and(R1, 3)
                    .ifZero(R1, kernel);
            copyRegisters(code, sampled);
            code.store(Width.U64, R6, CALL, -1).jump(taken).at(kernel);
        }
        code.step("registers at the kernel's entry")
                .move(R1, R7)
                .call(HelperFunctionId.TASK_PT_REGS)
                .move(R5, R0);
        copyRegisters(code, R5);
        code.load(Width.U64, R1, R5, PT_REGS_ORIG_AX).store(Width.U64, R6, CALL, R1);
        code.at(taken)
                .store(Width.U64, R6, EXACT, 1)
                .store(Width.U64, R6, LEAF, 1)
                .store(Width.U64, R6, COUNT, 0)
                .store(Width.U64, R6, END, UserStackEnd.LIMIT.ordinal())
                .store(Width.U64, R6, GUESSED, 0)
                .store(Width.U64, R6, RuntimeScratch.RUN, 0)
                .store(Width.U64, R6, RuntimeScratch.STATE, 0)
                .store(Width.U64, R6, RuntimeScratch.ENGINE, 0);
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
     * memory, R9 = {@link UserStackRecord#COPY_BYTES} for it; afterwards R8 = bytes of it, with its
     * head. The copy ends at the top of the stack where that is near, else where a page cannot be
     * read.
     */
    static void copyStack(CodeBuilder code, KernelFields fields, int event) {
        Label copied = new Label("copied");
        code.step("copy the stack")
                .store(Width.U32, R9, UserStackRecord.MAGIC, UserStackRecord.COPY_WORD)
                .store(Width.U32, R9, UserStackRecord.EVENT, event);
        for (int i = 0; i < UserStackRecord.COPY_REGISTERS.length; i++) {
            code.load(Width.U64, R1, R6, REGISTERS + 8 * UserStackRecord.COPY_REGISTERS[i])
                    .store(Width.U64, R9, UserStackRecord.COPIED_REGISTERS + 8 * i, R1);
        }
        code.load(Width.U64, R1, R6, EXACT)
                .store(Width.U64, R9, UserStackRecord.COPY_EXACT, R1)
                .load(Width.U64, R7, R6, RSP);
        Label all = new Label("all copied");
        upToTheTop(code, fields, all);
        code.move(R1, R7)
                .and(R1, PAGE - 1)
                .move(R8, PAGE)
                .compute(AluOperation.SUBTRACT, R8, R1)
                .move(R1, R9)
                .add(R1, UserStackRecord.COPY_HEAD)
                .move(R2, R8)
                .move(R3, R7)
                .call(HelperFunctionId.PROBE_READ_USER)
                .add(R7, R8)
                .ifZero(R0, copied)
                .move(R8, 0)
                .at(copied);
        code.ifZero(R8, all);
        for (int page = 0; page < UserStackRecord.COPY_PAGES; page++) {
            code.move(R1, R9)
                    .add(R1, R8)
                    .add(R1, UserStackRecord.COPY_HEAD)
                    .move(R2, PAGE)
                    .move(R3, R7)
                    .call(HelperFunctionId.PROBE_READ_USER)
                    .ifNotZero(R0, all)
                    .add(R7, PAGE)
                    .add(R8, PAGE);
        }
        code.at(all)
                .store(Width.U64, R9, UserStackRecord.COUNT, R8)
                .add(R8, UserStackRecord.COPY_HEAD);
    }

    /**
     * Copies from R7 to the top of the stack, if all of it fits: above the stack of the first
     * thread are the program's arguments, above that of another one its struct pthread.
     */
    private static void upToTheTop(CodeBuilder code, KernelFields fields, Label copied) {
        Label far = new Label("far from the top");
        Label near = new Label("near the top");
        code.call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .load(Width.U64, R5, R0, fields.fsBase())
                .load(Width.U64, R1, R0, fields.mm())
                .ifZero(R1, far)
                .load(Width.U64, R8, R1, fields.startStack())
                .compute(AluOperation.SUBTRACT, R8, R7)
                .branch(LESS_OR_EQUAL, R8, UserStackRecord.COPY_PAGES * PAGE, near)
                .move(R8, R5)
                .compute(AluOperation.SUBTRACT, R8, R7)
                .branch(GREATER, R8, UserStackRecord.COPY_PAGES * PAGE, far)
                .at(near)
                .move(R1, R9)
                .add(R1, UserStackRecord.COPY_HEAD)
                .move(R2, R8)
                .move(R3, R7)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifZero(R0, copied)
                .at(far);
    }

    /** Writes the call. R6 = scratch memory, R2 = most frames; R0 to R5 are lost. */
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
        // bpf_loop(steps, frame, the slot with the scratch memory, 0); steps of a run time may
        // tell no frame
        code.store(Width.U64, R10, -8, R1)
                .store(Width.U64, R1, RuntimeScratch.MOST, R2)
                .move(R1, R2)
                .shiftLeft(R1, 1)
                .function(R2, frame)
                .move(R3, R10)
                .add(R3, -8)
                .move(R4, 0)
                .call(HelperFunctionId.LOOP)
                .exit(0);
        oneFrame(code);
        begin(code, findMapping);
        mappings.find(code);
        begin(code, mapleStep);
        mappings.step(code);
        begin(code, findRow);
        rows.find(code);
        begin(code, java);
        new JavaCode(tables.jvms(), code).write();
        if (returns.isWanted()) {
            begin(code, returned);
            returns.find(code);
        }
        python.subprograms(code, label -> begin(code, label));
        begin(code, scripts.engine());
        scripts.write(code);
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
        Label first = new Label("first");
        Label stop = new Label("stop");
        Label room = new Label("room");
        Label nativeFrame = new Label("native");
        code.load(Width.U64, R6, R2, 0)
                .load(Width.U64, R1, R6, COUNT)
                .load(Width.U64, R2, R6, RuntimeScratch.MOST)
                .branch(LESS, R1, R2, room)
                .exit(1)
                .at(room)
                .load(Width.U64, R1, R6, RuntimeScratch.RUN)
                .ifZero(R1, nativeFrame)
                .move(R1, R6)
                .call(python.step())
                .exit(0)
                .at(nativeFrame)
                .load(Width.U64, R7, R6, IP)
                .load(Width.U64, R1, R6, EXACT)
                .ifNotZero(R1, exact)
                .add(R7, -1)
                .at(exact)
                .store(Width.U64, R6, PC, R7)
                .move(R1, R6)
                .call(findMapping)
                .ifNotZero(R0, mapped);
        // A caller outside of code is none: what was taken for a return address is not one. Where
        // the program began, its number of words stands in the place of one.
        code.load(Width.U64, R1, R6, COUNT)
                .ifZero(R1, first)
                .move(R7, UserStackEnd.NO_CODE.ordinal())
                .call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .load(Width.U64, R1, R0, fields.mm())
                .ifZero(R1, stop)
                .load(Width.U64, R1, R1, fields.startStack())
                .add(R1, 8)
                .load(Width.U64, R2, R6, RSP)
                .branch(NOT_EQUAL, R1, R2, stop)
                .move(R7, UserStackEnd.OUTERMOST.ordinal())
                .jump(stop);
        // The registers are those of the program before, the memory is the next one's.
        code.at(first)
                .load(Width.U64, R1, R6, CALL)
                .move(R7, UserStackEnd.IN_EXEC.ordinal())
                .branch(EQUAL, R1, NR_EXECVE, stop)
                .branch(EQUAL, R1, NR_EXECVEAT, stop);
        code.load(Width.U64, R1, R6, IP).store(Width.U64, R6, FRAMES, R1);
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
                .ifNotZero(R1, stop);
        runtimeFrame(code, stop);
        code.move(R1, R6).call(findRow).move(R9, R0);
        new FrameStep(code, stop, returns, python.run(), scripts.engine()).write();
        code.at(stop).store(Width.U64, R6, END, R7).exit(1);
    }

    /** Steps over a frame of code that is in no file, if it is known whose it is. */
    private void runtimeFrame(CodeBuilder code, Label stop) {
        Label next = new Label("next frame");
        Label rows = new Label("rows");
        code.load(Width.U64, R1, R6, CURRENT + 24)
                .ifNotZero(R1, rows)
                .move(R1, R6)
                .call(java)
                .ifZero(R0, rows)
                .branch(EQUAL, R0, JavaCode.STEPPED, next)
                .move(R7, R0)
                .add(R7, -JavaCode.ENDED)
                .jump(stop)
                .at(next)
                .move(R7, UserStackEnd.OUTERMOST.ordinal())
                .load(Width.U64, R1, R6, IP)
                .ifZero(R1, stop)
                .exit(0)
                .at(rows);
    }
}
