package sonde.probe.names;

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

import java.util.EnumMap;
import java.util.Map;
import sonde.bpf.BpfMap;
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
 * The program that tells what a thread waits for when it leaves the CPU: the thread is still the
 * current one and its memory there, and a call that does not wait costs nothing.
 *
 * <p>Registers: R6 context, R7 tgid and tid, later the length; R8 the registers of user mode, later
 * the address; R9 the record.
 */
final class WaitCode {
    private static final int NUMBER = -48;
    private static final int HASH = -56;

    /** The most that is read. */
    private static final int BYTES = 2 * NamedCall.SET_BYTES;

    private static final int HASH_FACTOR = 0x01000193;

    // struct pt_regs: orig_ax and cs of x86-64, syscallno of arm64.
    private static final int ORIG_AX = 120;
    private static final int CODE_SEGMENT = 136;
    private static final int USER_CS = 0x33;
    private static final int SYSCALLNO = 280;

    // futex(2)
    private static final int FUTEX_COMMAND = 0x7f;
    private static final int FUTEX_WAIT = 0;
    private static final int FUTEX_LOCK_PI = 6;
    private static final int FUTEX_WAIT_BITSET = 9;
    private static final int FUTEX_LOCK_PI2 = 13;

    private final NamesCode names;
    private final BpfMap told;

    /**
     * @param told what each thread was last told to wait for, as a hash
     */
    WaitCode(NamesCode names, BpfMap told) {
        this.names = names;
        this.told = told;
    }

    /** For the raw tracepoint sched_switch, whose first argument is whether prev is preempted. */
    ProgramCode switched() {
        Label out = new Label("out");
        Label unreadable = new Label("unreadable");
        Label send = new Label("send");
        Label tell = new Label("tell");
        CodeBuilder code = new CodeBuilder();
        code.step("does it sleep in a system call")
                .move(R6, R1)
                .load(Width.U64, R1, R6, 0)
                .ifNotZero(R1, out)
                .call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .move(R1, R0)
                .call(HelperFunctionId.TASK_PT_REGS)
                .ifZero(R0, out)
                .move(R8, R0);
        if (Arch.current() == Arch.X86_64) {
            code.load(Width.U64, R1, R8, CODE_SEGMENT)
                    .branch(JumpCondition.NOT_EQUAL, R1, USER_CS, out)
                    .load(Width.U64, R1, R8, ORIG_AX);
        } else {
            code.load(Width.U32, R1, R8, SYSCALLNO);
        }
        code.store(Width.U64, R10, NUMBER, R1);
        Map<Kind, Label> kinds = new EnumMap<>(Kind.class);
        Map<NamedSyscall, Label> calls = new java.util.LinkedHashMap<>();
        for (NamedSyscall call : NamedSyscall.WAITS) {
            int number = SyscallNames.of(Arch.current()).numberOf(call.name());
            if (number >= 0) {
                Label found = new Label(call.name());
                calls.put(call, found);
                code.branch(JumpCondition.EQUAL, R1, number, found);
            }
        }
        code.jump(out);
        calls.forEach((call, label) -> {
            code.at(label);
            NamesCode.keep(code, call.pointer(), NamesCode.POINTER);
            NamesCode.keep(code, call.length(), NamesCode.LENGTH);
            NamesCode.keep(code, call.descriptor(), NamesCode.DESCRIPTOR);
            code.jump(kinds.computeIfAbsent(call.kind(), kind -> new Label(kind.name())));
        });
        kinds.forEach((kind, label) -> {
            code.at(label);
            read(code, kind, out, unreadable);
            code.jump(kind == Kind.CONNECT ? tell : send);
        });
        code.at(unreadable).move(R0, 0).at(send);
        newOnly(code, out);
        code.at(tell);
        names.send(code, told);
        return code.at(out).exit(0).build();
    }

    /** Fills the record; R0 = the length of its bytes. */
    private void read(CodeBuilder code, Kind kind, Label out, Label unreadable) {
        if (kind == Kind.FUTEX) {
            lockOnly(code, out);
        }
        names.watched(code, out);
        names.startRecord(code, out);
        code.step("fill the record")
                .load(Width.U64, R1, R10, NUMBER)
                .store(Width.U32, R9, NamedCall.SYSCALL, R1)
                .load(Width.U64, R1, R10, NamesCode.DESCRIPTOR)
                .store(Width.U32, R9, NamedCall.DESCRIPTOR, R1)
                .load(Width.U64, R8, R10, NamesCode.POINTER)
                .store(Width.U64, R9, NamedCall.RESULT, R8)
                .store(Width.U16, R9, NamedCall.KIND, kind.ordinal());
        for (int i = 0; i < BYTES; i += 4) {
            code.store(Width.U32, R9, NamedCall.BYTES + i, 0);
        }
        switch (kind) {
            case POLL -> readPolled(code, out, unreadable);
            case SELECT -> readSets(code, unreadable);
            case FUTEX -> readWords(code, unreadable);
            case CONNECT -> {
                code.store(Width.U64, R9, NamedCall.RESULT, NamedCall.WAITING);
                NamesCode.readAddress(code, kind, out, unreadable, out);
            }
            case OPEN, EXECUTE, BIND, ACCEPT, PIPE, PATH, NONE ->
                    throw new IllegalArgumentException(kind + " waits for nothing");
        }
    }

    /**
     * Leaves unless the wait may be one for a lock whose owner can be known: FUTEX_LOCK_PI and
     * _PI2, a value that a mutex or rwlock of glibc has, one with FUTEX_WAITERS; or one for the end
     * of a thread.
     */
    private static void lockOnly(CodeBuilder code, Label out) {
        Label may = new Label("may have an owner");
        Label waits = new Label("waits");
        code.step("does it wait for a lock")
                .load(Width.U64, R1, R10, NamesCode.LENGTH)
                .and(R1, FUTEX_COMMAND)
                .branch(JumpCondition.EQUAL, R1, FUTEX_LOCK_PI, may)
                .branch(JumpCondition.EQUAL, R1, FUTEX_LOCK_PI2, may)
                .branch(JumpCondition.EQUAL, R1, FUTEX_WAIT, waits)
                .branch(JumpCondition.NOT_EQUAL, R1, FUTEX_WAIT_BITSET, out)
                .at(waits)
                .load(Width.U32, R1, R10, NamesCode.DESCRIPTOR)
                .branch(JumpCondition.LESS_OR_EQUAL, R1, 1, out)
                .at(may);
    }

    /** The structs pollfd. */
    private static void readPolled(CodeBuilder code, Label out, Label unreadable) {
        Label fits = new Label("number fits");
        code.step("read the array")
                .load(Width.U32, R2, R10, NamesCode.DESCRIPTOR)
                .ifZero(R2, out)
                .branch(JumpCondition.LESS_OR_EQUAL, R2, NamedCall.MOST_POLLED, fits)
                .move(R2, NamedCall.MOST_POLLED)
                .at(fits)
                .shiftLeft(R2, 3)
                .move(R7, R2);
        readUser(code, NamedCall.BYTES, unreadable);
        code.move(R0, R7);
    }

    /** Reads R2 bytes from R8 on. */
    private static void readUser(CodeBuilder code, int to, Label unreadable) {
        code.move(R1, R9)
                .add(R1, to)
                .move(R3, R8)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, unreadable);
    }

    /** The sets to read and to write; one that is not given is empty. */
    private static void readSets(CodeBuilder code, Label unreadable) {
        int[] slots = {NamesCode.POINTER, NamesCode.LENGTH};
        for (int set = 0; set < slots.length; set++) {
            Label none = new Label("set " + set + " is empty");
            code.step("read set " + set)
                    .load(Width.U64, R8, R10, slots[set])
                    .ifZero(R8, none)
                    .move(R2, NamedCall.SET_BYTES);
            readUser(code, NamedCall.BYTES + set * NamedCall.SET_BYTES, unreadable);
            code.at(none);
        }
        code.move(R0, 2 * NamedCall.SET_BYTES);
    }

    /** Operation, expected value, and the words at the address. */
    private static void readWords(CodeBuilder code, Label unreadable) {
        code.step("read the words")
                .load(Width.U64, R1, R10, NamesCode.LENGTH)
                .and(R1, FUTEX_COMMAND)
                .store(Width.U32, R9, NamedCall.BYTES, R1)
                .load(Width.U64, R1, R10, NamesCode.DESCRIPTOR)
                .store(Width.U32, R9, NamedCall.BYTES + 4, R1)
                .move(R2, NamedCall.FUTEX_BYTES - 8);
        readUser(code, NamedCall.BYTES + 8, unreadable);
        code.move(R0, NamedCall.FUTEX_BYTES);
    }

    /** Leaves when the thread's last record was the same: loops wait for the same again. */
    private void newOnly(CodeBuilder code, Label out) {
        Label changed = new Label("changed");
        code.step("is it new").move(R7, R0).load(Width.U64, R8, R9, NamedCall.RESULT);
        for (int i = 0; i < BYTES; i += 4) {
            code.load(Width.U32, R1, R9, NamedCall.BYTES + i)
                    .compute(AluOperation.MULTIPLY, R8, HASH_FACTOR)
                    .add(R8, R1);
        }
        NamesCode.lookUp(code, told, NamesCode.KEY, changed);
        code.load(Width.U64, R1, R0, 0)
                .branch(JumpCondition.EQUAL, R1, R8, out)
                .at(changed)
                .store(Width.U64, R10, HASH, R8)
                .map(R1, told.fd())
                .move(R2, R10)
                .add(R2, NamesCode.KEY)
                .move(R3, R10)
                .add(R3, HASH)
                .move(R4, 0)
                .call(HelperFunctionId.MAP_UPDATE_ELEM)
                .move(R0, R7);
    }
}
