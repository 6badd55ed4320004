package sonde.probe.syscall;

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

import java.util.Map;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.BpfMap;
import sonde.bpf.TaskTree;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.probe.syscall.FollowedCalls.TaskFields;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.CallTable;

/** The programs of {@link CallSession}; x86-64 (arch/x86/include/asm/ptrace.h). */
final class CallCode {
    /** struct pt_regs: di, si, dx, r10, r8, r9, sp, ip. */
    private static final int[] REGISTERS = {112, 104, 96, 56, 72, 64, 152, 128};

    /** The same of a 32-bit program: bx, cx, dx, si, di, bp, sp, ip. */
    private static final int[] REGISTERS_32 = {40, 88, 96, 104, 112, 32, 152, 128};

    private static final int ORIGINAL_AX = 120;

    /** TS_COMPAT of thread_info.status: a call of a 32-bit program. */
    static final int TS_COMPAT = 2;

    // Contexts of raw tracepoints are u64 arguments.
    private static final int SECOND = 8;
    private static final int THIRD = 16;
    private static final int FIFTH = 32;

    private static final int KEY = TaskTree.KEY;
    private static final int SLOT = -8;
    private static final int VALUE = -16;
    private static final int CHOICE = -24;
    private static final int SIGNAL_IGNORED = 1; // TRACE_SIGNAL_IGNORED
    private static final int SIGINFO_BYTES = 48;

    private static final int WAKE_BYTES = 1 << 20;
    private static final int NO_WAKEUP = 1; // BPF_RB_NO_WAKEUP
    private static final int FORCE_WAKEUP = 2;

    /** The maps that the programs share. */
    record CallMaps(BpfMap plans, BpfMap choices, BpfMap scratch, BpfMap ring, BpfMap lost) {}

    private final CallMaps maps;
    private final TaskTree tree;
    private final TaskFields fields;
    private final CodeBuilder code = new CodeBuilder();
    private final CapturedCode captured;

    /**
     * A program of a session.
     *
     * @param files of {@link FileCode#fields}; empty where no descriptors are followed
     */
    CallCode(CallMaps maps, TaskTree tree, TaskFields fields, Map<String, Integer> files) {
        captured = new CapturedCode(code, files);
        this.maps = maps;
        this.tree = tree;
        this.fields = fields;
    }

    /** At sys_enter: the numbers, and what the kernel is going to read. */
    ProgramCode enter() {
        Label out = new Label("out");
        call(out, CallRecord.ENTER);
        code.store(Width.U32, R7, 0, 0);
        captured.operations(false);
        send();
        code.at(out).exit(0);
        captured.subprograms();
        return code.build();
    }

    /** At sys_exit: the result, what the kernel wrote, and what was missing at the entry. */
    ProgramCode leave() {
        Label out = new Label("out");
        call(out, CallRecord.EXIT);
        captured.operations(true);
        code.store(Width.U32, R7, 0, TaskTree.NEW_MEMBER);
        send();
        code.at(out).exit(0);
        captured.subprograms();
        return code.build();
    }

    /** The types of {@link #enter} and {@link #leave}, which have callbacks. */
    byte[] types(BtfWriter types, String program) {
        return captured.types(types, program);
    }

    /** R7 = the thread's value, R8 = the call's plan, R9 = the record with its numbers. */
    private void call(Label out, int kind) {
        code.step("is the thread followed").load(Width.U64, R6, R1, SECOND);
        code.store(Width.U64, R10, VALUE, R6);
        tree.filter(code, out);
        code.move(R7, R0)
                .step("the registers of user mode")
                .call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .move(R8, R0)
                .move(R1, R0)
                .call(HelperFunctionId.TASK_PT_REGS)
                .ifZero(R0, out)
                .move(R6, R0);
        number(kind);
        plan(out);
        record(kind, out);
        arguments();
        choose();
    }

    /** {@link #CHOICE} = the call's number, {@link #SLOT} = that of its plan. */
    private void number(int kind) {
        Label known = new Label("known number");
        Label native64 = new Label("64 bits");
        code.step("the call's number");
        if (kind == CallRecord.ENTER) {
            code.load(Width.U64, R2, R10, VALUE);
        } else {
            code.load(Width.U64, R2, R6, ORIGINAL_AX);
        }
        code.store(Width.U64, R10, CHOICE, R2).move(R3, 0);
        if (fields.status() >= 0) {
            code.load(Width.U32, R3, R8, fields.status())
                    .and(R3, TS_COMPAT)
                    .ifZero(R3, native64)
                    .move(R2, CallTable.CALLS)
                    .at(native64);
        }
        code.store(Width.U32, R10, -28, R3)
                .branch(JumpCondition.LESS, R2, CallTable.CALLS, known)
                .move(R2, CallTable.CALLS)
                .at(known)
                .store(Width.U32, R10, SLOT, R2);
    }

    private void plan(Label out) {
        code.step("the call's plan");
        lookUp(maps.plans(), SLOT, out);
        code.move(R8, R0).load(Width.U32, R1, R8, 0).ifZero(R1, out);
    }

    private void lookUp(BpfMap map, int key, Label none) {
        code.map(R1, map.fd())
                .move(R2, R10)
                .add(R2, key)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, none);
    }

    /** R9 = this CPU's record with time, thread and number. */
    private void record(int kind, Label out) {
        code.step("start the record")
                .call(HelperFunctionId.GET_SMP_PROCESSOR_ID)
                .store(Width.U32, R10, SLOT - 24, R0);
        lookUp(maps.scratch(), SLOT - 24, out);
        code.move(R9, R0)
                .store(Width.U32, R9, CallRecord.LENGTH, CallRecord.PIECES)
                .store(Width.U32, R9, CallRecord.KIND, kind)
                .call(HelperFunctionId.KTIME_GET_NS)
                .store(Width.U64, R9, CallRecord.TIME, R0)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .store(Width.U32, R9, CallRecord.TID, R0)
                .shiftRight(R0, 32)
                .store(Width.U32, R9, CallRecord.PID, R0)
                .mapValue(R1, maps.lost().fd(), 0)
                .load(Width.U64, R1, R1, 0)
                .store(Width.U64, R9, CallRecord.LOST, R1);
    }

    private void arguments() {
        Label native64 = new Label("64-bit arguments");
        Label done = new Label("arguments");
        code.step("the arguments")
                .load(Width.U64, R1, R10, CHOICE)
                .store(Width.U64, R9, CallRecord.NUMBER, R1)
                .load(Width.U64, R1, R10, VALUE)
                .store(Width.U64, R9, CallRecord.RESULT, R1)
                .load(Width.U32, R3, R10, -28)
                .ifZero(R3, native64)
                .store(Width.U8, R9, CallRecord.FLAGS, CallRecord.COMPAT);
        registers(REGISTERS_32);
        code.jump(done).at(native64);
        registers(REGISTERS);
        code.at(done);
    }

    private void registers(int[] offsets) {
        for (int i = 0; i < offsets.length; i++) {
            code.load(Width.U64, R1, R6, offsets[i])
                    .store(Width.U64, R9, CallRecord.ARGUMENTS + 8 * i, R1);
        }
    }

    /** Some calls have a plan for each value of an argument. */
    private void choose() {
        Label plain = new Label("no other plan");
        code.step("the plan of an argument's value")
                .load(Width.U32, R1, R8, 4)
                .ifZero(R1, plain)
                .and(R1, 7)
                .shiftLeft(R1, 3)
                .add(R1, R9)
                .load(Width.U32, R1, R1, CallRecord.ARGUMENTS - 8)
                .load(Width.U32, R2, R10, SLOT)
                .store(Width.U32, R10, CHOICE, R2)
                .store(Width.U32, R10, CHOICE + 4, R1);
        lookUp(maps.choices(), CHOICE, plain);
        code.move(R8, R0).at(plain);
    }

    /** Sends the record; the reader is woken when much waits, and looks by itself otherwise. */
    private void send() {
        send(code, maps.ring(), maps.lost());
    }

    /** Sends the record at R9. */
    static void send(CodeBuilder code, BpfMap ring, BpfMap lost) {
        Label few = new Label("few");
        Label sent = new Label("sent");
        code.step("send")
                .map(R1, ring.fd())
                .move(R2, 0)
                .call(HelperFunctionId.RINGBUF_QUERY)
                .move(R4, NO_WAKEUP)
                .branch(JumpCondition.LESS, R0, WAKE_BYTES, few)
                .move(R4, FORCE_WAKEUP)
                .at(few)
                .map(R1, ring.fd())
                .move(R2, R9)
                .load(Width.U32, R3, R9, CallRecord.LENGTH)
                .and(R3, 0xffff)
                .call(HelperFunctionId.RINGBUF_OUTPUT)
                .ifZero(R0, sent)
                .mapValue(R1, lost.fd(), 0)
                .move(R2, 1)
                .atomicAdd(Width.U64, R1, 0, R2)
                .at(sent);
    }

    /** At signal_deliver: a signal that ends the thread or is handled. */
    ProgramCode signal() {
        Label out = new Label("out");
        code.step("is the thread followed")
                .load(Width.U64, R6, R1, 0)
                .load(Width.U64, R7, R1, SECOND);
        tree.filter(code, out);
        record(CallRecord.SIGNAL, out);
        information(R7);
        send();
        return code.at(out).exit(0).build();
    }

    /** At signal_generate: ptrace shows ignored signals, and the one that ends a process. */
    ProgramCode sent() {
        Label out = new Label("out");
        code.step("is the signal pending or ignored")
                .load(Width.U64, R2, R1, FIFTH)
                .compute32(AluOperation.MOVE, R2, R2)
                .branch(JumpCondition.GREATER, R2, SIGNAL_IGNORED, out)
                .store(Width.U64, R10, CHOICE, R2)
                .load(Width.U64, R6, R1, 0)
                .load(Width.U64, R7, R1, SECOND)
                .load(Width.U64, R8, R1, THIRD)
                .step("is its thread followed");
        field(KEY, fields.pid(), out);
        tree.filterKey(code, out);
        record(CallRecord.SENT, out);
        code.load(Width.U32, R1, R10, KEY).store(Width.U32, R9, CallRecord.TID, R1);
        field(VALUE, fields.tgid(), out);
        code.load(Width.U32, R1, R10, VALUE)
                .store(Width.U32, R9, CallRecord.PID, R1)
                .load(Width.U64, R1, R10, CHOICE)
                .store(Width.U64, R9, CallRecord.RESULT, R1);
        information(R7);
        send();
        return code.at(out).exit(0).build();
    }

    /** Reads a u32 of the task in R8 to the stack. */
    private void field(int to, int offset, Label out) {
        field(code, to, offset, out);
    }

    private static void field(CodeBuilder code, int to, int offset, Label out) {
        code.move(R1, R10)
                .add(R1, to)
                .move(R2, 4)
                .move(R3, R8)
                .add(R3, offset)
                .call(HelperFunctionId.PROBE_READ_KERNEL)
                .ifNotZero(R0, out);
    }

    /** The signal in R6, and struct siginfo as a piece; small numbers mean none (SEND_SIG_PRIV). */
    private void information(BpfRegister address) {
        Label none = new Label("no siginfo");
        code.step("the signal")
                .store(Width.U64, R9, CallRecord.NUMBER, R6)
                .branch(JumpCondition.LESS_OR_EQUAL, address, 2, none)
                .move(R1, R9)
                .add(R1, CallRecord.PIECES + 8)
                .move(R2, SIGINFO_BYTES)
                .move(R3, address)
                .call(HelperFunctionId.PROBE_READ_KERNEL)
                .ifNotZero(R0, none)
                .store(Width.U32, R9, CallRecord.PIECES, 0)
                .store(Width.U32, R9, CallRecord.PIECES + 4, SIGINFO_BYTES)
                .store(Width.U32, R9, CallRecord.LENGTH, CallRecord.PIECES + 8 + SIGINFO_BYTES)
                .at(none);
    }

    /** At sched_process_exit: the end of a thread. */
    ProgramCode end() {
        Label out = new Label("out");
        code.step("is the thread followed");
        tree.filter(code, out);
        record(CallRecord.END, out);
        code.step("its status")
                .call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .load(Width.U32, R1, R0, fields.exitCode())
                .store(Width.U64, R9, CallRecord.NUMBER, R1);
        send();
        code.call(HelperFunctionId.GET_CURRENT_PID_TGID).store(Width.U32, R10, KEY, R0);
        tree.forget(code);
        return code.at(out).exit(0).build();
    }

    /** At sched_process_exec: a thread that takes over the number of its process. */
    ProgramCode executed() {
        Label out = new Label("out");
        renamed(code, tree, out);
        record(CallRecord.EXEC, out);
        code.store(Width.U64, R9, CallRecord.RESULT, R8);
        send();
        return code.at(out).exit(0).build();
    }

    /** At sched_process_fork: the child of a member is one. */
    ProgramCode forked() {
        Label out = new Label("out");
        forked(code, tree, fields, out);
        return code.at(out).exit(0).build();
    }

    static void forked(CodeBuilder code, TaskTree tree, TaskFields fields, Label out) {
        code.step("is the parent followed").load(Width.U64, R8, R1, SECOND);
        tree.filter(code, out);
        code.step("add the child");
        field(code, KEY, fields.pid(), out);
        tree.add(code, out);
    }

    /** R8 = the old number, when the thread is followed and its number has changed. */
    static void renamed(CodeBuilder code, TaskTree tree, Label out) {
        Label added = new Label("renamed");
        code.step("has the number changed")
                .load(Width.U64, R8, R1, SECOND)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .compute32(AluOperation.MOVE, R6, R0)
                .compute32(AluOperation.MOVE, R8, R8)
                .branch(JumpCondition.EQUAL, R8, R6, out)
                .store(Width.U32, R10, KEY, R8);
        tree.rename(code, out, added);
        code.at(added);
    }
}
