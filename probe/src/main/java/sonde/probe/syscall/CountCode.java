package sonde.probe.syscall;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;

import sonde.bpf.BpfMap;
import sonde.bpf.TaskTree;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.probe.syscall.FollowedCalls.TaskFields;
import sonde.recording.syscall.CallTable;

/** The programs of {@link CallCounter}. */
final class CountCode {
    /** A thread's value in the tree: u32 bits, u32 number of its call, u64 time of its begin. */
    static final int MEMBER_BYTES = 16;

    /** Calls of x86-64, one for all others, and those of 32-bit programs. */
    static final int SUMS = 2 * (CallTable.CALLS + 1);

    /** u64 calls, errors, nanoseconds, the least and the most of them. */
    static final int SUM_BYTES = 40;

    /** Bit of a thread that is not counted before its next execve. */
    static final int WAITS_FOR_EXEC = 1 << 30;

    private static final int NUMBER = 4;
    private static final int BEGIN = 8;
    private static final int SECOND = 8; // argument of a raw tracepoint
    private static final int SLOT = -8;
    private static final int MOST_ERROR = 4095; // MAX_ERRNO
    private static final int EXECVE = CallTable.number("execve");

    private final TaskTree tree;
    private final BpfMap counts;
    private final TaskFields fields;

    CountCode(TaskTree tree, BpfMap counts, TaskFields fields) {
        this.tree = tree;
        this.counts = counts;
        this.fields = fields;
    }

    /** At sys_enter: remember the call's number and time in the thread's value. */
    ProgramCode enter() {
        Label out = new Label("out");
        Label counted = new Label("counted");
        Label known = new Label("known number");
        Label native64 = new Label("64 bits");
        CodeBuilder code = new CodeBuilder().load(Width.U64, R6, R1, SECOND);
        tree.filter(code, out);
        code.move(R7, R0)
                .load(Width.U32, R1, R7, 0)
                .and(R1, WAITS_FOR_EXEC)
                .ifZero(R1, counted)
                .branch(JumpCondition.NOT_EQUAL, R6, EXECVE, out)
                .store(Width.U32, R7, 0, TaskTree.NEW_MEMBER)
                .at(counted);
        if (fields.status() >= 0) {
            code.call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                    .load(Width.U32, R1, R0, fields.status())
                    .and(R1, CallCode.TS_COMPAT)
                    .ifZero(R1, native64)
                    .branch(JumpCondition.GREATER, R6, CallTable.CALLS, native64)
                    .add(R6, CallTable.CALLS + 1)
                    .jump(known)
                    .at(native64);
        }
        code.branch(JumpCondition.LESS, R6, CallTable.CALLS, known)
                .move(R6, CallTable.CALLS)
                .at(known)
                .store(Width.U32, R7, NUMBER, R6)
                .call(HelperFunctionId.KTIME_GET_NS)
                .store(Width.U64, R7, BEGIN, R0);
        return code.at(out).exit(0).build();
    }

    /** At sys_exit: add to the call's sum. */
    ProgramCode leave() {
        Label out = new Label("out");
        Label least = new Label("least");
        Label notLeast = new Label("not the least");
        Label notMost = new Label("not the most");
        Label noError = new Label("no error");
        CodeBuilder code = new CodeBuilder().load(Width.U64, R6, R1, SECOND);
        tree.filter(code, out);
        code.move(R7, R0)
                .load(Width.U64, R8, R7, BEGIN)
                .ifZero(R8, out)
                .store(Width.U64, R7, BEGIN, 0)
                .load(Width.U32, R1, R7, NUMBER)
                .store(Width.U32, R10, SLOT, R1)
                .call(HelperFunctionId.KTIME_GET_NS)
                .move(R9, R0)
                .compute(AluOperation.SUBTRACT, R9, R8)
                .map(R1, counts.fd())
                .move(R2, R10)
                .add(R2, SLOT)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, out)
                .load(Width.U64, R1, R0, 16)
                .add(R1, R9)
                .store(Width.U64, R0, 16, R1)
                .load(Width.U64, R1, R0, 0)
                .move(R2, R1)
                .add(R2, 1)
                .store(Width.U64, R0, 0, R2)
                .ifZero(R1, least)
                .load(Width.U64, R3, R0, 24)
                .branch(JumpCondition.GREATER_OR_EQUAL, R9, R3, notLeast)
                .at(least)
                .store(Width.U64, R0, 24, R9)
                .at(notLeast)
                .load(Width.U64, R3, R0, 32)
                .branch(JumpCondition.LESS_OR_EQUAL, R9, R3, notMost)
                .store(Width.U64, R0, 32, R9)
                .at(notMost)
                .branch(JumpCondition.SIGNED_GREATER_OR_EQUAL, R6, 0, noError)
                .branch(JumpCondition.SIGNED_LESS, R6, -MOST_ERROR, noError)
                .load(Width.U64, R1, R0, 8)
                .add(R1, 1)
                .store(Width.U64, R0, 8, R1)
                .at(noError);
        return code.at(out).exit(0).build();
    }

    /** At sched_process_fork. */
    ProgramCode forked() {
        Label out = new Label("out");
        CodeBuilder code = new CodeBuilder();
        CallCode.forked(code, tree, fields, out);
        return code.at(out).exit(0).build();
    }

    /** At sched_process_exec: a thread that takes over the number of its process. */
    ProgramCode executed() {
        Label out = new Label("out");
        CodeBuilder code = new CodeBuilder();
        CallCode.renamed(code, tree, out);
        return code.at(out).exit(0).build();
    }

    /** At sched_process_exit. */
    ProgramCode end() {
        CodeBuilder code =
                new CodeBuilder()
                        .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                        .store(Width.U32, R10, TaskTree.KEY, R0);
        tree.forget(code);
        return code.exit(0).build();
    }
}
