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

import java.io.IOException;
import java.util.Map;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.bpf.link.KernelTypes;
import sonde.probe.syscall.CapturedCode.UserReads;
import sonde.recording.syscall.CallRecord;
import sonde.sys.Errno;
import sonde.sys.ProcessCalls;

/**
 * The programs of {@link LibrarySession}, for the begin and the return of a function (uprobe
 * session, Linux 6.13; x86-64). They may sleep, so memory that is not present is read, too.
 */
final class LibraryCode {
    /** Flag of a probe: calls from anywhere count, not only those of the main program. */
    static final int ANY_CALLER = 1;

    /** Flag of a probe: the return is not seen. */
    static final int NO_RETURN = 2;

    /** Flag of a probe: something is read by its arguments when it returns. */
    static final int KEEPS_ARGUMENTS = 4;

    /** Where the number of a probe begins in its cookie. */
    static final int NUMBER_SHIFT = 8;

    /** Records that are in the making on a CPU at a time: programs that sleep take turns. */
    static final int SLOTS = 4;

    /** Before the record: whether somebody writes it. */
    private static final int BUSY_BYTES = 8;

    static final int SLOT_BYTES = CapturedCode.RECORD_BYTES + BUSY_BYTES;

    static final int ARGUMENT_BYTES = 48;

    /** struct pt_regs: di, si, dx, cx, r8, r9, sp. */
    private static final int[] REGISTERS = {112, 104, 96, 88, 72, 64, 152};

    private static final int AX = 80;
    private static final int SP = 152;

    private static final int SLOT = -8;
    private static final int COOKIE = -16;
    private static final int CALLER = -24;
    private static final int KEY = -32;

    private static final int FORCE_WAKEUP = 2; // BPF_RB_FORCE_WAKEUP
    private static final int COPY_FROM_USER = 148;

    /** What the programs share. */
    record LibraryMaps(
            BpfMap plans, BpfMap scratch, BpfMap arguments, BpfMap ring, BpfMap lost, int cpus) {}

    /**
     * What is needed of the running kernel.
     *
     * @param mm offset in task_struct; the next two in mm_struct
     * @param isReturn number of the kernel's function, as the next two
     */
    record LibraryKernel(
            int mm, int startCode, int endCode, int isReturn, int sessionCookie, int copyString) {
        static LibraryKernel read() throws IOException {
            try (KernelTypes types = KernelTypes.open()) {
                Btf btf = types.btf();
                return new LibraryKernel(
                        offset(btf, "task_struct", "mm"),
                        offset(btf, "mm_struct", "start_code"),
                        offset(btf, "mm_struct", "end_code"),
                        function(btf, "bpf_session_is_return"),
                        function(btf, "bpf_session_cookie"),
                        function(btf, "bpf_copy_from_user_str"));
            }
        }

        private static int offset(Btf btf, String struct, String member) throws IOException {
            int id = btf.search(struct, BtfType.Struct.class::isInstance);
            if (btf.type(id) instanceof BtfType.Struct type) {
                var found = btf.member(type, member);
                if (found.isPresent()) {
                    return found.get().bitOffset() / 8;
                }
            }
            throw missing(struct + "." + member);
        }

        private static int function(Btf btf, String name) throws IOException {
            int id = btf.search(name, BtfType.Func.class::isInstance);
            if (id <= 0) {
                throw missing(name);
            }
            return id;
        }

        private static BpfRefusedException missing(String what) {
            return new BpfRefusedException(
                    "library calls",
                    Errno.ENOENT,
                    "this kernel has no " + what,
                    "sonde calls needs Linux 6.13 with BTF");
        }
    }

    private final LibraryMaps maps;
    private final LibraryKernel kernel;
    private final CodeBuilder code = new CodeBuilder();
    private final CapturedCode captured;

    LibraryCode(LibraryMaps maps, LibraryKernel kernel) {
        this.maps = maps;
        this.kernel = kernel;
        captured =
                new CapturedCode(
                        code, Map.of(), new UserReads(COPY_FROM_USER, kernel.copyString()));
    }

    byte[] types(BtfWriter types, String program) {
        return captured.types(types, program);
    }

    /** At the begin of a function and at its return. */
    ProgramCode session() {
        Label leave = new Label("leave");
        Label out = new Label("not wanted");
        Label full = new Label("no room");
        Label last = new Label("no return is awaited");
        begin(code, kernel, leave, out);
        code.step("begin");
        record(CallRecord.ENTER, full);
        for (int i = 0; i < REGISTERS.length; i++) {
            code.load(Width.U64, R1, R6, REGISTERS[i])
                    .store(Width.U64, R9, CallRecord.ARGUMENTS + 8 * i, R1);
        }
        code.load(Width.U64, R1, R10, CALLER)
                .store(Width.U64, R9, CallRecord.ARGUMENTS + 56, R1)
                .store(Width.U64, R9, CallRecord.RESULT, 0);
        keepArguments();
        plan(full);
        captured.operations(false);
        send();
        code.load(Width.U64, R1, R10, COOKIE)
                .and(R1, NO_RETURN)
                .ifNotZero(R1, last)
                .exit(0)
                .at(last)
                .exit(1);
        code.at(leave).step("return");
        record(CallRecord.EXIT, full);
        code.load(Width.U64, R1, R6, AX)
                .store(Width.U64, R9, CallRecord.RESULT, R1)
                .store(Width.U64, R9, CallRecord.ARGUMENTS + 56, R1)
                .load(Width.U64, R1, R6, SP)
                .add(R1, -8)
                .store(Width.U64, R9, CallRecord.ARGUMENTS + 48, R1);
        restoreArguments();
        plan(full);
        code.store(Width.U32, R7, 0, 0);
        captured.operations(true);
        send();
        code.exit(0)
                .at(full)
                .mapValue(R1, maps.lost().fd(), 0)
                .move(R2, 1)
                .atomicAdd(Width.U64, R1, 0, R2)
                .exit(0)
                .at(out)
                .exit(1);
        captured.subprograms();
        return code.build();
    }

    /** As {@link #session}, but adds to the sums of {@link CountCode} alone. */
    static ProgramCode count(BpfMap counts, LibraryKernel kernel) {
        Label leave = new Label("leave");
        Label out = new Label("not wanted");
        Label least = new Label("least");
        Label notLeast = new Label("not the least");
        Label end = new Label("end");
        CodeBuilder code = new CodeBuilder();
        begin(code, kernel, leave, out);
        code.step("remember the time")
                .call(HelperFunctionId.KTIME_GET_NS)
                .store(Width.U64, R7, 0, R0)
                .load(Width.U64, R1, R10, COOKIE)
                .and(R1, NO_RETURN)
                .ifZero(R1, end);
        sum(code, counts, end);
        code.move(R2, 1)
                .atomicAdd(Width.U64, R0, 0, R2)
                .exit(1)
                .at(leave)
                .step("add to the sum")
                .call(HelperFunctionId.KTIME_GET_NS)
                .move(R9, R0)
                .load(Width.U64, R8, R7, 0)
                .compute(AluOperation.SUBTRACT, R9, R8);
        sum(code, counts, end);
        // Another thread may take this CPU in between: the sums are exact, least and most nearly.
        code.load(Width.U64, R1, R0, 0)
                .move(R2, 1)
                .atomicAdd(Width.U64, R0, 0, R2)
                .atomicAdd(Width.U64, R0, 16, R9)
                .ifZero(R1, least)
                .load(Width.U64, R3, R0, 24)
                .branch(JumpCondition.GREATER_OR_EQUAL, R9, R3, notLeast)
                .at(least)
                .store(Width.U64, R0, 24, R9)
                .at(notLeast)
                .load(Width.U64, R3, R0, 32)
                .branch(JumpCondition.LESS_OR_EQUAL, R9, R3, end)
                .store(Width.U64, R0, 32, R9);
        return code.at(end).exit(0).at(out).exit(1).build();
    }

    /** R0 = the sum of the probe. */
    private static void sum(CodeBuilder code, BpfMap counts, Label none) {
        code.load(Width.U64, R1, R10, COOKIE)
                .shiftRight(R1, NUMBER_SHIFT)
                .store(Width.U32, R10, SLOT, R1)
                .map(R1, counts.fd())
                .move(R2, R10)
                .add(R2, SLOT)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, none);
    }

    /**
     * R6 = the registers, R7 = the value that begin and return share; goes to {@code leave} at a
     * return, and to {@code out} when somebody calls whose calls are not wanted.
     */
    static void begin(CodeBuilder code, LibraryKernel kernel, Label leave, Label out) {
        Label wanted = new Label("wanted");
        code.step("begin or return")
                .move(R6, R1)
                .call(HelperFunctionId.GET_ATTACH_COOKIE)
                .store(Width.U64, R10, COOKIE, R0)
                .callKernel(kernel.sessionCookie())
                .move(R7, R0)
                .callKernel(kernel.isReturn())
                .and(R0, 1)
                .ifNotZero(R0, leave)
                .step("who calls")
                .store(Width.U64, R10, CALLER, 0)
                .move(R1, R10)
                .add(R1, CALLER)
                .move(R2, 8)
                .load(Width.U64, R3, R6, SP)
                .call(HelperFunctionId.PROBE_READ_USER)
                .load(Width.U64, R1, R10, COOKIE)
                .and(R1, ANY_CALLER)
                .ifNotZero(R1, wanted)
                .call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .load(Width.U64, R1, R0, kernel.mm())
                .ifZero(R1, out)
                .load(Width.U64, R2, R1, kernel.startCode())
                .load(Width.U64, R3, R1, kernel.endCode())
                .load(Width.U64, R4, R10, CALLER)
                .branch(JumpCondition.LESS, R4, R2, out)
                .branch(JumpCondition.GREATER, R4, R3, out)
                .at(wanted);
    }

    /** R9 = a free record with time, thread and number. */
    private void record(int kind, Label full) {
        Label got = new Label("slot");
        code.step("find a record")
                .call(HelperFunctionId.GET_SMP_PROCESSOR_ID)
                .store(Width.U32, R10, SLOT, R0);
        for (int i = 0; i < SLOTS; i++) {
            Label busy = new Label("busy " + i);
            lookUp(maps.scratch(), SLOT, full);
            code.move(R9, R0)
                    .add(R9, BUSY_BYTES)
                    .move(R1, 1)
                    .atomic(AtomicOperation.EXCHANGE, Width.U32, R9, -BUSY_BYTES, R1)
                    .ifZero(R1, got)
                    .at(busy)
                    .load(Width.U32, R1, R10, SLOT)
                    .add(R1, maps.cpus())
                    .store(Width.U32, R10, SLOT, R1);
        }
        code.jump(full)
                .at(got)
                .store(Width.U32, R9, CallRecord.LENGTH, CallRecord.PIECES)
                .store(Width.U32, R9, CallRecord.KIND, kind)
                .call(HelperFunctionId.KTIME_GET_NS)
                .store(Width.U64, R9, CallRecord.TIME, R0)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .store(Width.U32, R9, CallRecord.TID, R0)
                .store(Width.U32, R10, KEY, R0)
                .shiftRight(R0, 32)
                .store(Width.U32, R9, CallRecord.PID, R0)
                .load(Width.U64, R1, R10, COOKIE)
                .shiftRight(R1, NUMBER_SHIFT)
                .store(Width.U64, R9, CallRecord.NUMBER, R1)
                .mapValue(R1, maps.lost().fd(), 0)
                .load(Width.U64, R1, R1, 0)
                .store(Width.U64, R9, CallRecord.LOST, R1);
    }

    private void lookUp(BpfMap map, int key, Label none) {
        code.map(R1, map.fd())
                .move(R2, R10)
                .add(R2, key)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, none);
    }

    /** R8 = the function's plan. */
    private void plan(Label full) {
        Label found = new Label("plan");
        Label none = new Label("no plan");
        code.step("the plan")
                .load(Width.U64, R1, R9, CallRecord.NUMBER)
                .store(Width.U32, R10, SLOT, R1);
        lookUp(maps.plans(), SLOT, none);
        code.move(R8, R0)
                .jump(found)
                .at(none)
                .store(Width.U32, R9, -BUSY_BYTES, 0)
                .jump(full)
                .at(found);
    }

    /** A call is known by its thread and stack pointer. */
    private void key(Label none) {
        code.load(Width.U64, R1, R10, COOKIE)
                .and(R1, KEEPS_ARGUMENTS)
                .ifZero(R1, none)
                .load(Width.U32, R1, R9, CallRecord.ARGUMENTS + 48)
                .store(Width.U32, R10, KEY + 4, R1)
                .map(R1, maps.arguments().fd())
                .move(R2, R10)
                .add(R2, KEY);
    }

    private void keepArguments() {
        Label none = new Label("arguments are not kept");
        code.step("keep the arguments");
        key(none);
        code.move(R3, R9)
                .add(R3, CallRecord.ARGUMENTS)
                .move(R4, 0)
                .call(HelperFunctionId.MAP_UPDATE_ELEM)
                .at(none);
    }

    private void restoreArguments() {
        Label none = new Label("no arguments");
        code.step("the arguments of the begin");
        for (int i = 0; i < ARGUMENT_BYTES; i += 8) {
            code.store(Width.U64, R9, CallRecord.ARGUMENTS + i, 0);
        }
        key(none);
        code.call(HelperFunctionId.MAP_LOOKUP_ELEM).ifZero(R0, none);
        for (int i = 0; i < ARGUMENT_BYTES; i += 8) {
            code.load(Width.U64, R1, R0, i).store(Width.U64, R9, CallRecord.ARGUMENTS + i, R1);
        }
        code.map(R1, maps.arguments().fd())
                .move(R2, R10)
                .add(R2, KEY)
                .call(HelperFunctionId.MAP_DELETE_ELEM)
                .at(none);
    }

    private void send() {
        CallCode.send(code, maps.ring(), maps.lost());
        code.store(Width.U32, R9, -BUSY_BYTES, 0);
    }

    /** Where the loader says that its list of libraries has changed: the process waits. */
    static ProgramCode stop(BpfMap ring) {
        int record = -CallRecord.NUMBER;
        return new CodeBuilder()
                .step("stop the process")
                .move(R1, ProcessCalls.SIGSTOP)
                .call(HelperFunctionId.SEND_SIGNAL)
                .step("say so")
                .store(Width.U32, R10, record + CallRecord.LENGTH, CallRecord.NUMBER)
                .store(Width.U32, R10, record + CallRecord.KIND, CallRing.STOPPED)
                .call(HelperFunctionId.KTIME_GET_NS)
                .store(Width.U64, R10, record + CallRecord.TIME, R0)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .store(Width.U32, R10, record + CallRecord.TID, R0)
                .compute(AluOperation.SHIFT_RIGHT, R0, 32)
                .store(Width.U32, R10, record + CallRecord.PID, R0)
                .map(R1, ring.fd())
                .move(R2, R10)
                .add(R2, record)
                .move(R3, CallRecord.NUMBER)
                .move(R4, FORCE_WAKEUP)
                .call(HelperFunctionId.RINGBUF_OUTPUT)
                .exit(0)
                .build();
    }
}
