package sonde.probe.syscall;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramSpec.Debug;
import sonde.bpf.TaskTree;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.ring.RingBuffer;
import sonde.probe.syscall.CallCode.CallMaps;
import sonde.probe.syscall.FollowedCalls.TaskFields;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.CaptureOp;
import sonde.recording.syscall.CaptureOp.CallPlan;
import sonde.recording.syscall.CaptureOp.NumberPlan;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * Captures the system calls of some processes: the programs are attached from {@link #open} on, and
 * {@link #stream} has their records.
 *
 * <p>The raw tracepoints of system calls make every process of the machine take the slower way into
 * the kernel as long as the session is open, some 50 ns a call.
 */
public final class CallSession implements CallSource.Streamed {
    private static final int PLAN_BYTES = CapturedCode.PLAN_BYTES;
    private static final int MOST_CHOICES = 1024;

    private final FollowedCalls programs;
    private final BpfMap lost;
    private final CallRing ring;

    /**
     * What is captured.
     *
     * @param pids processes; without {@code follow} threads
     * @param follow whether their descendants and all their threads, too
     * @param plans of the calls that are wanted, by number, made while the kernel's types are read;
     *     {@link CallTable#CALLS} is that of calls without a number of their own
     * @param ringBytes a power of two
     */
    public record CallRequest(
            Set<Integer> pids,
            boolean follow,
            Supplier<Map<Integer, NumberPlan>> plans,
            int ringBytes) {}

    private CallSession(CallRequest request) throws IOException {
        programs = new FollowedCalls(request.follow(), 4);
        try {
            TaskTree tree = programs.tree();
            CallMaps maps = maps(request.ringBytes());
            lost = maps.lost();
            Map<Integer, NumberPlan> plans = request.plans().get();
            fill(maps, plans);
            ring = new CallRing(programs.keep(RingBuffer.open(maps.ring())), _ -> {});
            Map<String, Integer> files = files(plans);
            TaskFields fields = programs.fields();
            CallCode leave = new CallCode(maps, tree, fields, files);
            FutureTask<Program> leaving = loading("sys_exit", leave.leave(), leave);
            CallCode enter = new CallCode(maps, tree, fields, files);
            FutureTask<Program> entering = loading("sys_enter", enter.enter(), enter);
            programs.attach("sched_process_exit", other(maps, fields).end());
            programs.attach("sched_process_exec", other(maps, fields).executed());
            if (request.follow()) {
                programs.attach("sched_process_fork", other(maps, fields).forked());
            }
            programs.follow(request.pids());
            programs.attach("signal_generate", other(maps, fields).sent());
            programs.attach("signal_deliver", other(maps, fields).signal());
            programs.attach("sys_exit", Awaited.of(leaving));
            programs.attach("sys_enter", Awaited.of(entering));
        } catch (FileCode.MissingField e) {
            programs.close();
            throw e.refusal();
        } catch (IOException e) {
            programs.close();
            throw e;
        }
        ring.start();
    }

    /** For a program that captures no memory. */
    private CallCode other(CallMaps maps, TaskFields fields) {
        return new CallCode(maps, programs.tree(), fields, Map.of());
    }

    /**
     * Attaches.
     *
     * @throws BpfRefusedException when this user or kernel may not
     */
    public static CallSession open(CallRequest request) throws IOException {
        return new CallSession(request);
    }

    private CallMaps maps(int ringBytes) throws IOException {
        int cpus = MachineFacts.possibleCpus().length();
        return new CallMaps(
                programs.map("sonde_plans", MapType.ARRAY, 4, PLAN_BYTES, CallTable.CALLS + 1),
                programs.map("sonde_choices", MapType.HASH, 8, PLAN_BYTES, MOST_CHOICES),
                programs.map("sonde_calls", MapType.ARRAY, 4, CapturedCode.RECORD_BYTES, cpus),
                programs.map("sonde_call_ring", MapType.RING_BUFFER, 0, 0, ringBytes),
                programs.map("sonde_call_lost", MapType.ARRAY, 4, 8, 1));
    }

    private static void fill(CallMaps maps, Map<Integer, NumberPlan> plans)
            throws SyscallException {
        int choices = plans.values().stream().mapToInt(one -> one.choices().size()).sum();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keys = arena.allocate(4L * plans.size(), 8);
            MemorySegment values = arena.allocate((long) PLAN_BYTES * plans.size(), 8);
            MemorySegment chosen = arena.allocate(8L * choices, 8);
            MemorySegment choiceValues = arena.allocate((long) PLAN_BYTES * choices, 8);
            int count = 0;
            choices = 0;
            for (Map.Entry<Integer, NumberPlan> entry : plans.entrySet()) {
                NumberPlan plan = entry.getValue();
                keys.setAtIndex(JAVA_INT, count, entry.getKey());
                encode(plan.plan(), plan.chooser(), values, count++);
                for (Map.Entry<Long, CallPlan> choice : plan.choices().entrySet()) {
                    chosen.setAtIndex(JAVA_INT, 2L * choices, entry.getKey());
                    chosen.setAtIndex(JAVA_INT, 2L * choices + 1, choice.getKey().intValue());
                    encode(choice.getValue(), -1, choiceValues, choices++);
                }
            }
            maps.plans().putAll(keys, values, count);
            maps.choices().putAll(chosen, choiceValues, choices);
        }
    }

    /** Puts one plan. */
    static void put(BpfMap plans, int number, CallPlan plan) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(PLAN_BYTES, 8);
            encode(plan, -1, value, 0);
            plans.put(arena.allocateFrom(JAVA_INT, number), value);
        }
    }

    private static void encode(CallPlan plan, int chooser, MemorySegment values, int index) {
        MemorySegment value = values.asSlice((long) PLAN_BYTES * index, PLAN_BYTES);
        value.set(JAVA_INT, 0, 1);
        value.set(JAVA_INT, 4, chooser + 1);
        operations(plan.entry(), value, CapturedCode.ENTRY_OPS);
        operations(plan.exit(), value, CapturedCode.EXIT_OPS);
    }

    private static void operations(List<CaptureOp> all, MemorySegment value, int at) {
        for (int i = 0; i < all.size() && i < CaptureOp.MOST; i++) {
            value.set(JAVA_LONG, at + 8L * i, all.get(i).word());
        }
    }

    private static Map<String, Integer> files(Map<Integer, NumberPlan> plans) throws IOException {
        if (plans.values().stream().noneMatch(NumberPlan::needsFiles)) {
            return Map.of();
        }
        try (KernelTypes types = KernelTypes.open()) {
            return FileCode.fields(types.btf());
        }
    }

    /**
     * Loads a program with callbacks on a thread of its own: the verifier takes some 15 ms for each
     * of the two.
     */
    private FutureTask<Program> loading(String tracepoint, ProgramCode code, CallCode source) {
        BtfWriter types = new BtfWriter();
        ProgramSpec plain = FollowedCalls.spec(tracepoint, code);
        byte[] functions = source.types(types, plain.name());
        FutureTask<Program> task =
                FollowedCalls.inBackground(
                        "load",
                        () -> {
                            try (LoadedBtf btf = LoadedBtf.load(types.bytes())) {
                                Debug debug =
                                        new Debug(btf.fd(), functions, 8, new byte[0], 16, true);
                                return Program.load(plain.with(debug));
                            }
                        });
        programs.keep(() -> Awaited.of(task).close());
        return task;
    }

    @Override
    public CallStream stream() {
        return ring.stream();
    }

    @Override
    public boolean isAlone() throws SyscallException {
        return programs.isAlone();
    }

    @Override
    public void follow(int pid) throws SyscallException {
        programs.follow(pid, TaskTree.NEW_MEMBER);
    }

    @Override
    public long lost() throws SyscallException {
        return lost.word(0);
    }

    @Override
    public void finish() {
        ring.finish();
    }

    /** Detaches; nothing stays in the kernel. */
    @Override
    public void close() {
        ring.close();
        programs.close();
    }
}
