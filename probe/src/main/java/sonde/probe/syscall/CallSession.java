package sonde.probe.syscall;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Link;
import sonde.bpf.LinkCloser;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramSpec.Debug;
import sonde.bpf.ProgramType;
import sonde.bpf.TaskTree;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.ring.RingBuffer;
import sonde.probe.syscall.CallCode.CallMaps;
import sonde.probe.syscall.CallCode.TaskFields;
import sonde.probe.syscall.CallStream.CallChunk;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.CaptureOp;
import sonde.recording.syscall.CaptureOp.CallPlan;
import sonde.recording.syscall.CaptureOp.NumberPlan;
import sonde.sys.Arch;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * Captures the system calls of some processes: the programs are attached from {@link #open} on, and
 * {@link #stream} has their records.
 *
 * <p>The raw tracepoints of system calls make every process of the machine take the slower way into
 * the kernel as long as the session is open, some 50 ns a call.
 */
public final class CallSession implements AutoCloseable {
    private static final int MOST_CHOICES = 1024;
    private static final int CHUNK_BYTES = 1 << 20;
    private static final long LOOK_NANOS = 5_000_000;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final CallStream stream;
    private final TaskTree tree;
    private final boolean descendants;
    private final BpfMap lost;
    private final RingBuffer ring;
    private final Thread reader;
    private volatile boolean stopping;
    private byte[] chunk = new byte[CHUNK_BYTES];
    private int used;

    /**
     * What is captured.
     *
     * @param pids processes; without {@code follow} threads
     * @param follow whether their descendants and all their threads, too
     * @param plans of the calls that are wanted, by number; {@link CallTable#CALLS} is that of
     *     calls without a number of their own
     * @param ringBytes a power of two
     */
    public record CallRequest(
            Set<Integer> pids, boolean follow, Map<Integer, NumberPlan> plans, int ringBytes) {}

    private CallSession(CallRequest request) throws IOException {
        if (Arch.current() != Arch.X86_64) {
            throw new BpfRefusedException(
                    "system calls",
                    Errno.ENOSYS,
                    "the programs that capture them know the registers of x86-64 alone",
                    "use 'sonde record'");
        }
        descendants = request.follow();
        try {
            tree = keep(TaskTree.observed(request.pids(), request.follow()));
            CallMaps maps = maps(request.ringBytes());
            lost = maps.lost();
            fill(maps, request.plans());
            TaskFields fields;
            try (KernelTypes types = KernelTypes.open()) {
                fields = fields(types.btf(), needsFiles(request));
            }
            ring = keep(RingBuffer.open(maps.ring()));
            stream = new CallStream(Runtime.getRuntime().maxMemory() / 2);
            CallCode leave = new CallCode(maps, tree, fields);
            FutureTask<Program> leaving = loading("sys_exit", leave.leave(), leave);
            attach("sched_process_exit", new CallCode(maps, tree, fields).end());
            attach("sched_process_exec", new CallCode(maps, tree, fields).executed());
            attach("signal_generate", new CallCode(maps, tree, fields).sent());
            attach("signal_deliver", new CallCode(maps, tree, fields).signal());
            CallCode enter = new CallCode(maps, tree, fields);
            FutureTask<Program> entering = loading("sys_enter", enter.enter(), enter);
            keep(Link.rawTracepoint(loaded(leaving), "sys_exit"));
            keep(Link.rawTracepoint(loaded(entering), "sys_enter"));
        } catch (FileCode.MissingField e) {
            LinkCloser.all(parts);
            throw e.refusal();
        } catch (IOException e) {
            LinkCloser.all(parts);
            throw e;
        }
        reader = Thread.ofPlatform().daemon().name("calls").start(this::read);
    }

    /**
     * Attaches.
     *
     * @throws BpfRefusedException when this user or kernel may not
     */
    public static CallSession open(CallRequest request) throws IOException {
        return new CallSession(request);
    }

    private <T extends AutoCloseable> T keep(T part) {
        parts.push(part);
        return part;
    }

    private CallMaps maps(int ringBytes) throws IOException {
        int cpus = MachineFacts.possibleCpus().length();
        return new CallMaps(
                map("sonde_plans", MapType.ARRAY, 4, CapturedCode.PLAN_BYTES, CallTable.CALLS + 1),
                map("sonde_choices", MapType.HASH, 8, CapturedCode.PLAN_BYTES, MOST_CHOICES),
                map("sonde_calls", MapType.ARRAY, 4, CapturedCode.RECORD_BYTES, cpus),
                map("sonde_call_ring", MapType.RING_BUFFER, 0, 0, ringBytes),
                map("sonde_call_lost", MapType.ARRAY, 4, 8, 1));
    }

    private BpfMap map(String name, MapType type, int key, int value, int entries)
            throws IOException {
        return keep(BpfMap.create(new MapSpec(name, type, key, value, entries)));
    }

    private static void fill(CallMaps maps, Map<Integer, NumberPlan> plans)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(8, 8);
            MemorySegment value = arena.allocate(CapturedCode.PLAN_BYTES, 8);
            for (Map.Entry<Integer, NumberPlan> entry : plans.entrySet()) {
                NumberPlan plan = entry.getValue();
                key.set(JAVA_INT, 0, entry.getKey());
                encode(plan.plan(), plan.chooser(), value);
                maps.plans().put(key, value);
                for (Map.Entry<Long, CallPlan> choice : plan.choices().entrySet()) {
                    key.set(JAVA_INT, 4, choice.getKey().intValue());
                    encode(choice.getValue(), -1, value);
                    maps.choices().put(key, value);
                }
            }
        }
    }

    private static void encode(CallPlan plan, int chooser, MemorySegment value) {
        value.fill((byte) 0);
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

    private static boolean needsFiles(CallRequest request) {
        return request.plans().values().stream().anyMatch(NumberPlan::needsFiles);
    }

    private static TaskFields fields(Btf btf, boolean files) throws IOException {
        BtfType.Struct task = struct(btf, "task_struct");
        int status = -1;
        Optional<BtfType.Struct> info = btf.struct("thread_info");
        if (info.isPresent()) {
            Optional<BtfType.Member> member = btf.member(info.get(), "status");
            Optional<BtfType.Member> inner = btf.member(task, "thread_info");
            if (member.isPresent() && inner.isPresent()) {
                status = (inner.get().bitOffset() + member.get().bitOffset()) / 8;
            }
        }
        return new TaskFields(
                offset(btf, task, "pid"),
                offset(btf, task, "tgid"),
                offset(btf, task, "exit_code"),
                status,
                files ? FileCode.fields(btf) : Map.of());
    }

    private static BtfType.Struct struct(Btf btf, String name) throws IOException {
        return btf.struct(name).orElseThrow(() -> missing("struct " + name));
    }

    private static int offset(Btf btf, BtfType.Struct struct, String name) throws IOException {
        return btf.member(struct, name)
                        .orElseThrow(() -> missing(struct.name() + "." + name))
                        .bitOffset()
                / 8;
    }

    private static BpfRefusedException missing(String what) {
        return new BpfRefusedException(what, Errno.ENOENT, "this kernel has none", "");
    }

    /**
     * Loads a program with callbacks on a thread of its own: the verifier takes some 15 ms for each
     * of the two.
     */
    private FutureTask<Program> loading(String tracepoint, ProgramCode code, CallCode source) {
        BtfWriter types = new BtfWriter();
        ProgramSpec plain = spec(tracepoint, code);
        byte[] functions = source.types(types, plain.name());
        FutureTask<Program> task =
                new FutureTask<>(() -> {
                    try (LoadedBtf btf = LoadedBtf.load(types.bytes())) {
                        Debug debug = new Debug(btf.fd(), functions, 8, new byte[0], 16, true);
                        return Program.load(plain.with(debug));
                    }
                });
        keep(() -> loaded(task).close());
        Thread.ofPlatform().daemon().name("load").start(task);
        return task;
    }

    private static Program loaded(FutureTask<Program> task) throws IOException {
        try {
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException refused) {
                throw refused;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a program was loaded");
        }
    }

    private void attach(String tracepoint, ProgramCode code) throws IOException {
        try (Program program = Program.load(spec(tracepoint, code))) {
            keep(Link.rawTracepoint(program, tracepoint));
        }
    }

    private static ProgramSpec spec(String tracepoint, ProgramCode code) {
        String name = "sonde_" + tracepoint.replace("sched_process", "task");
        String cut = name.substring(0, Math.min(15, name.length()));
        return new ProgramSpec(cut, ProgramType.RAW_TRACEPOINT, code);
    }

    /** Copies records out of the ring, nothing else: the programs never wait for the decoder. */
    private void read() {
        IOException failure = null;
        try {
            boolean last = false;
            while (!last) {
                last = stopping;
                long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
                long count = ring.drain(this::copy);
                flush(now);
                if (count == 0 && !last) {
                    stream.nothingUntil(now);
                    ring.await(LOOK_NANOS);
                }
            }
        } catch (IOException e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        stream.end(failure);
    }

    private void copy(MemorySegment memory, long offset, int bytes) {
        if (bytes > chunk.length - used) {
            // What is in it may still be out of order with what comes.
            putChunk(0);
        }
        MemorySegment.copy(memory, JAVA_BYTE, offset, chunk, used, bytes);
        used += bytes;
    }

    private void flush(long nanos) throws InterruptedException {
        if (used > 0) {
            putChunk(nanos);
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private void putChunk(long nanos) {
        try {
            boolean full = used > CHUNK_BYTES / 2;
            byte[] bytes = full ? chunk : Arrays.copyOf(chunk, used);
            stream.put(new CallChunk(bytes, used, nanos));
            chunk = full ? new byte[CHUNK_BYTES] : chunk;
            used = 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The records. */
    public CallStream stream() {
        return stream;
    }

    /** Whether no followed thread is left. */
    public boolean isAlone() throws SyscallException {
        return tree.isEmpty();
    }

    /** Follows a process, too; without {@code follow} its first thread. */
    public void follow(int pid) throws SyscallException {
        if (descendants) {
            tree.addProcess(pid);
        } else {
            tree.addThread(pid);
        }
    }

    /** Records that found the ring full, so far. */
    public long lost() throws SyscallException {
        return lost.word(0);
    }

    /** Reads what is in the ring; afterwards the stream ends. */
    public void finish() {
        stopping = true;
    }

    /** Detaches; nothing stays in the kernel. */
    @Override
    public void close() {
        stopping = true;
        stream.end(null);
        reader.interrupt();
        try {
            reader.join(1000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        LinkCloser.all(parts);
    }
}
