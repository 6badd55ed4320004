package sonde.probe.snapshot;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R9;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.unwind.RegisterValues;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.bpf.link.KernelIterator;
import sonde.bpf.link.KernelTypes;
import sonde.sys.Arch;
import sonde.sys.ProcessCalls;

/**
 * What the kernel knows of threads and /proc does not show: the registers of user mode, the
 * addresses of the kernel stack, and when a thread ran last. A program of kind iter/task reads it,
 * so that no thread is stopped. Since Linux 5.15 (bpf_task_pt_regs), for root.
 */
final class TaskScan implements AutoCloseable {
    /** Processes that can be asked for. */
    private static final int MOST_PROCESSES = 10_000;

    private static final int MOST_BYTES = 64 << 20;
    private static final int KERNEL_FRAMES = 48;
    private static final int KEY = -4;

    // The record, in the order in which the program writes it.
    private static final int TID = 0;
    private static final int PID = 4;
    private static final int ON_CPU = 8;
    private static final int NOW = 16;
    private static final int ARRIVED = 24;
    private static final int SUM = 32;
    private static final int SUM_BEFORE = 40;
    private static final int VOLUNTARY = 48;
    private static final int INVOLUNTARY = 56;
    private static final int STACK_BYTES = 64;
    private static final int REGISTERS = 72;
    private static final int REGISTERS_BYTES = Arch.current() == Arch.AARCH64 ? 272 : 168;
    private static final int STACK = REGISTERS + REGISTERS_BYTES;
    private static final int BYTES = STACK + 8 * KERNEL_FRAMES;

    /** struct pt_regs of x86-64, by DWARF's columns; -1 for what unwinding does not need. */
    private static final int[] X86_64 = {
        15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, -1, 16, -1, -1, 7, -1
    };

    private static final int CODE_SEGMENT = 17;

    /** __USER32_CS of arch/x86/include/asm/segment.h. */
    private static final long USER32_CS = 0x23;

    /** arm64: x0 to x30, sp, pc, which have the columns of their positions. */
    private static final int AARCH64 = 33;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final @Nullable BpfMap chosen;
    private final KernelIterator iterator;

    /**
     * A thread as the kernel saw it.
     *
     * @param onCpu whether it ran: then the registers are those of its last way into the kernel
     * @param switches how often it left a CPU; equal in two scans when it did not run in between
     * @param offSince when it left the CPU, CLOCK_MONOTONIC; 0 when it never ran or runs
     * @param kernelStack addresses, callee first
     */
    record SeenTask(
            boolean onCpu, long switches, long offSince, long[] registers, long[] kernelStack) {
        /** Whether it runs 32-bit code: its registers are not those of the machine. */
        boolean isNarrow() {
            return Arch.current() == Arch.X86_64 && registers[CODE_SEGMENT] == USER32_CS;
        }

        /** rsp of struct pt_regs; sp of arm64. */
        long stackPointer() {
            return registers[Arch.current() == Arch.AARCH64 ? 31 : 19];
        }

        /** Sets the registers of the first frame. */
        void fill(RegisterValues first) {
            first.clear();
            boolean arm = Arch.current() == Arch.AARCH64;
            for (int i = 0; i < registers.length; i++) {
                int column = arm ? (i < AARCH64 ? i : -1) : X86_64[i];
                if (column >= 0) {
                    first.set(column, registers[i]);
                }
            }
        }
    }

    private TaskScan(boolean everybody) throws IOException {
        BpfMap filter = null;
        try (KernelTypes types = KernelTypes.open()) {
            BpfMap scratch = map(MapType.PER_CPU_ARRAY, BYTES, 1);
            if (!everybody) {
                filter = map(MapType.HASH, 4, MOST_PROCESSES);
            }
            ProgramSpec spec =
                    new ProgramSpec(
                                    "sonde_tasks",
                                    ProgramType.TRACING,
                                    code(types.btf(), scratch, filter))
                            .targeting(AttachType.TRACE_ITER, types.iterator("task"));
            Program program = Program.load(spec);
            parts.push(program);
            iterator = KernelIterator.of(program);
            parts.push(iterator);
        } catch (IOException e) {
            close();
            throw e;
        }
        chosen = filter;
    }

    /**
     * Loads the program.
     *
     * @param everybody whether all threads of the machine are wanted, not those of processes
     * @throws IOException where BPF is not allowed or too old
     */
    static TaskScan open(boolean everybody) throws IOException {
        return new TaskScan(everybody);
    }

    private BpfMap map(MapType type, int valueBytes, int entries) throws IOException {
        BpfMap map = BpfMap.create(new MapSpec("sonde_tasks", type, 4, valueBytes, entries));
        parts.push(map);
        return map;
    }

    /** R6 the context, R7 the task, R9 the record. */
    private static ProgramCode code(Btf btf, BpfMap scratch, @Nullable BpfMap filter)
            throws IOException {
        Label out = new Label("out");
        CodeBuilder code = new CodeBuilder();
        code.step("the task")
                .move(R6, R1)
                .load(Width.U64, R7, R6, 8)
                .ifZero(R7, out)
                .load(Width.U32, R1, R7, offset(btf, "tgid"))
                .store(Width.U32, R10, KEY, R1);
        if (filter != null) {
            lookUp(code, filter, out);
        }
        code.step("start the record").store(Width.U32, R10, KEY, 0);
        lookUp(code, scratch, out);
        code.move(R9, R0).call(HelperFunctionId.KTIME_GET_NS).store(Width.U64, R9, NOW, R0);
        copy(code, Width.U32, btf, TID, "pid");
        copy(code, Width.U32, btf, PID, "tgid");
        copy(code, Width.U32, btf, ON_CPU, "on_cpu");
        copy(code, Width.U64, btf, ARRIVED, "sched_info", "last_arrival");
        copy(code, Width.U64, btf, SUM, "se", "sum_exec_runtime");
        copy(code, Width.U64, btf, SUM_BEFORE, "se", "prev_sum_exec_runtime");
        copy(code, Width.U64, btf, VOLUNTARY, "nvcsw");
        copy(code, Width.U64, btf, INVOLUNTARY, "nivcsw");
        code.step("registers of user mode")
                .move(R1, R7)
                .call(HelperFunctionId.TASK_PT_REGS)
                .ifZero(R0, out)
                .move(R3, R0)
                .move(R1, R9)
                .add(R1, REGISTERS)
                .move(R2, REGISTERS_BYTES)
                .call(HelperFunctionId.PROBE_READ_KERNEL)
                .step("kernel stack")
                .move(R1, R7)
                .move(R2, R9)
                .add(R2, STACK)
                .move(R3, 8 * KERNEL_FRAMES)
                .move(R4, 0)
                .call(HelperFunctionId.number("bpf_get_task_stack"))
                .store(Width.U64, R9, STACK_BYTES, R0)
                .step("write")
                .load(Width.U64, R1, R6, 0)
                .load(Width.U64, R1, R1, 0)
                .move(R2, R9)
                .move(R3, BYTES)
                .call(HelperFunctionId.number("bpf_seq_write"));
        return code.at(out).exit(0).build();
    }

    private static void lookUp(CodeBuilder code, BpfMap map, Label none) {
        code.map(R1, map.fd())
                .move(R2, R10)
                .add(R2, KEY)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, none);
    }

    private static void copy(CodeBuilder code, Width width, Btf btf, int to, String... path)
            throws IOException {
        code.load(width, R1, R7, offset(btf, path)).store(width, R9, to, R1);
    }

    /** The offset of a member of struct task_struct. */
    private static int offset(Btf btf, String... path) throws MalformedInputException {
        BtfType.Struct in = btf.struct("task_struct").orElseThrow(() -> missing("task_struct"));
        int bits = 0;
        for (int i = 0; i < path.length; i++) {
            String name = path[i];
            BtfType.Member member = btf.member(in, name).orElseThrow(() -> missing(name));
            bits += member.bitOffset();
            if (i + 1 < path.length) {
                if (!(btf.type(btf.skipModifiers(member.type())) instanceof BtfType.Struct inner)) {
                    throw missing(name);
                }
                in = inner;
            }
        }
        return bits / 8;
    }

    private static MalformedInputException missing(String name) {
        return new MalformedInputException("BTF", name, -1, "this kernel's tasks lack it");
    }

    /**
     * Reads the threads now.
     *
     * @param pids the processes; not asked when everybody is wanted
     * @return by tid
     */
    Map<Integer, SeenTask> scan(Collection<Integer> pids) throws IOException {
        BpfMap filter = chosen;
        if (filter != null) {
            for (int pid : pids.stream().limit(MOST_PROCESSES).toList()) {
                filter.put(pid, 1);
            }
            filter.put(ProcessCalls.getpid(), 1);
        }
        // This thread comes to its CPU anew, so that its arrival there tells the clocks apart.
        LockSupport.parkNanos(50_000);
        ByteBuffer bytes =
                ByteBuffer.wrap(iterator.read(MOST_BYTES)).order(ByteOrder.nativeOrder());
        int own = ProcessCalls.gettid();
        long skew = 0;
        for (int at = 0; at + BYTES <= bytes.limit(); at += BYTES) {
            if (bytes.getInt(at + TID) == own) {
                skew = bytes.getLong(at + NOW) - bytes.getLong(at + ARRIVED);
            }
        }
        Map<Integer, SeenTask> seen = new HashMap<>();
        for (int at = 0; at + BYTES <= bytes.limit(); at += BYTES) {
            seen.put(bytes.getInt(at + TID), task(bytes, at, skew));
        }
        return seen;
    }

    private static SeenTask task(ByteBuffer bytes, int at, long skew) {
        boolean onCpu = bytes.getInt(at + ON_CPU) != 0;
        // What it ran since it came: sched_info's clock is the CPU's, skew turns it into ours.
        long ran = bytes.getLong(at + SUM) - bytes.getLong(at + SUM_BEFORE);
        long arrived = bytes.getLong(at + ARRIVED);
        long since = onCpu || arrived == 0 || skew == 0 ? 0 : arrived + Math.max(ran, 0) + skew;
        long[] registers = new long[REGISTERS_BYTES / 8];
        for (int i = 0; i < registers.length; i++) {
            registers[i] = bytes.getLong(at + REGISTERS + 8 * i);
        }
        int frames = (int) Math.clamp(bytes.getLong(at + STACK_BYTES) / 8, 0, KERNEL_FRAMES);
        long[] stack = new long[frames];
        for (int i = 0; i < frames; i++) {
            stack[i] = bytes.getLong(at + STACK + 8 * i);
        }
        long switches = bytes.getLong(at + VOLUNTARY) + bytes.getLong(at + INVOLUNTARY);
        return new SeenTask(
                onCpu, switches, Math.min(since, bytes.getLong(at + NOW)), registers, stack);
    }

    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
