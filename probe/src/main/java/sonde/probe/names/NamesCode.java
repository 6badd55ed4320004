package sonde.probe.names;

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

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.TaskTree;
import sonde.bpf.TracepointFormat;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.recording.names.NamedCall;
import sonde.recording.names.NamedCall.Kind;
import sonde.sys.Arch;
import sonde.sys.SyscallNames;

/**
 * The programs of {@link NamesProgram}.
 *
 * <p>Registers: R6 context, R7 tgid and tid as the kernel gives them, later the length; R8 the
 * registers of user mode, later the call's result; R9 the record being filled.
 */
final class NamesCode {
    // Context of syscalls:sys_exit_*: __syscall_nr at 8, ret at 16.
    private static final int CONTEXT_NUMBER = 8;
    private static final int CONTEXT_RESULT = 16;

    // Stack: the key, a zero key, and the call's arguments.
    static final int KEY = TaskTree.KEY;
    private static final int ZERO = -8;
    static final int POINTER = -16;
    static final int LENGTH = -24;
    static final int DESCRIPTOR = -32;
    private static final int USER_LENGTH = -40;

    // Counters, bytes from the start of their map's only value.
    static final int SENT = 0;
    static final int DROPPED = 8;
    static final int UNREADABLE = 16;
    static final int COUNTERS = 3;

    /** Paths of calls that are often made in a loop are told this far apart, on each CPU. */
    private static final int SAMPLE_NANOS = 1_000_000;

    private static final int LENGTH_MASK = 0x1ff;

    // Of the scratch value: the record, room for what the verifier takes for its length, a time.
    private static final int SAMPLED_AT = 544;
    static final int SCRATCH_BYTES = SAMPLED_AT + 8;

    private static final int PATH_ROOM = NamedCall.MAX_PATH + 1;
    private static final long CURRENT_CPU = 0xffffffffL;

    private final BpfMap events;
    private final BpfMap scratch;
    private final BpfMap counters;
    private final @Nullable TaskTree tree;

    NamesCode(BpfMap events, BpfMap scratch, BpfMap counters, @Nullable TaskTree tree) {
        this.events = events;
        this.scratch = scratch;
        this.counters = counters;
        this.tree = tree;
    }

    /**
     * At a call's end: reads what its arguments point to and sends the record. The arguments are
     * still in the registers that user mode was left with, so nothing is to be kept from its begin.
     */
    ProgramCode end(NamedSyscall call) {
        Label out = new Label("out");
        Label unreadable = new Label("unreadable");
        Label send = new Label("send");
        CodeBuilder code = new CodeBuilder();
        filter(code, out);
        code.step("the registers of user mode")
                .call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .move(R1, R0)
                .call(HelperFunctionId.TASK_PT_REGS)
                .ifZero(R0, out)
                .move(R8, R0);
        keep(code, call.pointer(), POINTER);
        keep(code, call.length(), LENGTH);
        keep(code, call.descriptor(), DESCRIPTOR);
        startRecord(code, out);
        if (call.kind() == Kind.PATH) {
            sample(code, out);
        }
        code.step("fill the record")
                .load(Width.U32, R1, R6, CONTEXT_NUMBER)
                .store(Width.U32, R9, NamedCall.SYSCALL, R1)
                .load(Width.U64, R1, R10, DESCRIPTOR)
                .store(Width.U32, R9, NamedCall.DESCRIPTOR, R1)
                .load(Width.U64, R8, R6, CONTEXT_RESULT)
                .store(Width.U64, R9, NamedCall.RESULT, R8)
                .store(Width.U16, R9, NamedCall.KIND, call.kind().ordinal());
        switch (call.kind()) {
            case OPEN, EXECUTE, PATH -> readPath(code, call.kind(), out, unreadable);
            case CONNECT, BIND, ACCEPT -> readAddress(code, call.kind(), out, unreadable, send);
            case PIPE -> readPipe(code, out, unreadable);
            case POLL, SELECT, FUTEX, NONE ->
                    throw new IllegalArgumentException(call.name() + " has no name");
        }
        code.jump(send);
        code.at(unreadable).step("unreadable");
        if (call.kind() == Kind.PATH) {
            // One of many: what becomes of it is not counted.
            code.jump(out).at(send);
            output(code);
        } else {
            count(code, UNREADABLE);
            code.move(R0, 0).at(send);
            send(code, null);
        }
        // 0 would take the event away from all perf events (trace_call_bpf).
        return code.at(out).exit(1).build();
    }

    /** Leaves when a path was told on this CPU less than {@link #SAMPLE_NANOS} ago. */
    private static void sample(CodeBuilder code, Label out) {
        code.step("is it time for another path")
                .call(HelperFunctionId.KTIME_GET_NS)
                .move(R2, R0)
                .load(Width.U64, R1, R9, SAMPLED_AT)
                .compute(AluOperation.SUBTRACT, R2, R1)
                .branch(JumpCondition.LESS, R2, SAMPLE_NANOS, out)
                .store(Width.U64, R9, SAMPLED_AT, R0);
    }

    /** Keeps an argument on the stack; one that the call does not have as the working directory. */
    static void keep(CodeBuilder code, int position, int slot) {
        if (position < 0) {
            code.move(R1, NamedCall.WORKING_DIRECTORY);
        } else {
            code.load(Width.U64, R1, R8, SyscallRegisters.offset(Arch.current(), position));
        }
        code.store(Width.U64, R10, slot, R1);
    }

    /** The path; R0 = its length. A good exec is told at sched_process_exec: its memory is gone. */
    private static void readPath(CodeBuilder code, Kind kind, Label out, Label unreadable) {
        code.step("read the path");
        if (kind == Kind.EXECUTE) {
            code.ifZero(R8, out);
        }
        code.move(R1, R9)
                .add(R1, NamedCall.BYTES)
                .move(R2, PATH_ROOM)
                .load(Width.U64, R3, R10, POINTER)
                .call(HelperFunctionId.PROBE_READ_USER_STR)
                .branch(JumpCondition.SIGNED_LESS_OR_EQUAL, R0, 0, unreadable)
                .add(R0, -1);
    }

    /** The two descriptors, of a call that made them; R0 = their length. */
    private static void readPipe(CodeBuilder code, Label out, Label unreadable) {
        code.step("read the descriptors")
                .ifNotZero(R8, out)
                .move(R1, R9)
                .add(R1, NamedCall.BYTES)
                .move(R2, NamedCall.PIPE_BYTES)
                .load(Width.U64, R3, R10, POINTER)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, unreadable)
                .move(R0, NamedCall.PIPE_BYTES);
    }

    /** The address; R0 = its length. Accepts that failed have none and are not told. */
    static void readAddress(CodeBuilder code, Kind kind, Label out, Label unreadable, Label send) {
        Label fits = new Label("length fits");
        code.step("read the address's length");
        if (kind == Kind.ACCEPT) {
            code.branch(JumpCondition.SIGNED_LESS, R8, 0, out)
                    .move(R0, 0)
                    .load(Width.U64, R3, R10, LENGTH)
                    .ifZero(R3, send)
                    .move(R1, R10)
                    .add(R1, USER_LENGTH)
                    .move(R2, 4)
                    .call(HelperFunctionId.PROBE_READ_USER)
                    .ifNotZero(R0, unreadable)
                    .load(Width.U32, R2, R10, USER_LENGTH);
        } else {
            code.load(Width.U32, R2, R10, LENGTH);
        }
        code.branch(JumpCondition.LESS_OR_EQUAL, R2, NamedCall.MAX_ADDRESS, fits)
                .move(R2, NamedCall.MAX_ADDRESS)
                .at(fits)
                .step("read the address")
                .move(R7, R2)
                .move(R1, R9)
                .add(R1, NamedCall.BYTES)
                .load(Width.U64, R3, R10, POINTER)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, unreadable)
                .move(R0, R7);
    }

    /** At an exec that worked: the file as the kernel opened it. */
    ProgramCode executed(TracepointFormat exec) throws IOException {
        Label out = new Label("out");
        Label read = new Label("read");
        CodeBuilder code = new CodeBuilder();
        filter(code, out);
        startRecord(code, out);
        code.step("fill the record")
                .store(Width.U32, R9, NamedCall.SYSCALL, SyscallNames.number("execve"))
                .store(Width.U32, R9, NamedCall.DESCRIPTOR, NamedCall.WORKING_DIRECTORY)
                .store(Width.U64, R9, NamedCall.RESULT, 0)
                .store(Width.U16, R9, NamedCall.KIND, Kind.EXECUTE.ordinal())
                .step("read the path")
                // __data_loc: the low half is the offset in the event.
                .load(Width.U32, R3, R6, exec.offset("filename"))
                .and(R3, 0xffff)
                .add(R3, R6)
                .move(R1, R9)
                .add(R1, NamedCall.BYTES)
                .move(R2, PATH_ROOM)
                .call(HelperFunctionId.PROBE_READ_KERNEL_STR)
                .add(R0, -1)
                .branch(JumpCondition.SIGNED_GREATER_OR_EQUAL, R0, 0, read)
                .move(R0, 0)
                .at(read);
        send(code, null);
        // 0 would take the event away from all perf events (trace_call_bpf).
        return code.at(out).exit(1).build();
    }

    /** R6 = context, R7 = tgid and tid, {@link #KEY} = tid; leaves when the task is not watched. */
    private void filter(CodeBuilder code, Label out) {
        code.move(R6, R1);
        watched(code, out);
    }

    /** R7 = tgid and tid, {@link #KEY} = tid; leaves when the task is not watched. */
    void watched(CodeBuilder code, Label out) {
        code.step("is the task watched");
        if (tree != null) {
            tree.filter(code, out);
        }
        code.call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .move(R7, R0)
                .store(Width.U32, R10, KEY, R7);
        if (tree == null) {
            long own = ProcessHandle.current().pid();
            code.shiftRight(R0, 32).branch(JumpCondition.EQUAL, R0, (int) own, out);
        }
    }

    /** R0 = address of the value at a key on the stack; leaves when there is none. */
    static void lookUp(CodeBuilder code, BpfMap map, int key, Label none) {
        code.map(R1, map.fd())
                .move(R2, R10)
                .add(R2, key)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, none);
    }

    /** R9 = this CPU's record, with the thread's numbers. */
    void startRecord(CodeBuilder code, Label out) {
        code.step("start the record").store(Width.U32, R10, ZERO, 0);
        lookUp(code, scratch, ZERO, out);
        code.move(R9, R0)
                .store(Width.U32, R9, NamedCall.TID, R7)
                .move(R1, R7)
                .shiftRight(R1, 32)
                .store(Width.U32, R9, NamedCall.PID, R1);
    }

    /**
     * Sends the record with R0 bytes.
     *
     * @param told forgets the thread when that fails; null for none
     */
    void send(CodeBuilder code, @Nullable BpfMap told) {
        Label sent = new Label("sent");
        Label done = new Label("done");
        output(code);
        code.ifZero(R0, sent);
        count(code, DROPPED);
        if (told != null) {
            code.map(R1, told.fd())
                    .move(R2, R10)
                    .add(R2, KEY)
                    .call(HelperFunctionId.MAP_DELETE_ELEM);
        }
        code.jump(done).at(sent);
        count(code, SENT);
        code.at(done);
    }

    /** Sends the record with R0 bytes; R0 = 0 when it arrived. */
    private void output(CodeBuilder code) {
        code.step("send")
                .store(Width.U16, R9, NamedCall.LENGTH, R0)
                .move(R5, R0)
                .and(R5, LENGTH_MASK)
                .add(R5, NamedCall.BYTES)
                .move(R1, R6)
                .map(R2, events.fd())
                .move(R3, CURRENT_CPU)
                .move(R4, R9)
                .call(HelperFunctionId.PERF_EVENT_OUTPUT);
    }

    void count(CodeBuilder code, int counter) {
        code.mapValue(R1, counters.fd(), counter).move(R2, 1).atomicAdd(Width.U64, R1, 0, R2);
    }
}
