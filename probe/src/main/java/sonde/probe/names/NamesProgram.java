package sonde.probe.names;

import static sonde.recording.perfdata.PerfAbi.FLAG_DISABLED;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramType;
import sonde.bpf.TaskTree;
import sonde.bpf.TracepointFormat;
import sonde.bpf.insn.ProgramCode;
import sonde.recording.names.NamedCall;
import sonde.recording.perfdata.PerfAttr;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.PerfEventOpen;
import sonde.sys.SyscallException;

/**
 * Writes a {@link NamedCall} for every open, exec, connect, bind and accept into the recorder's
 * perf rings, and for a thousand of the calls a second that look at paths (stat, access, unlink).
 * Tracepoints carry pointers only, so a small program reads what they point to when the call ends,
 * when the page is surely present; the pointers are still in user mode's registers.
 *
 * <p>Not seen: calls of 32-bit programs, calls through io_uring, nor the old name of a call that
 * changed its own arguments meanwhile.
 */
public final class NamesProgram implements AutoCloseable {
    /** Threads whose last wait is known. */
    private static final int WAITING_THREADS = 1 << 14;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final List<String> attached = new ArrayList<>();
    private final List<Integer> held = new ArrayList<>();
    private final BpfMap events;
    private final BpfMap scratch;
    private final BpfMap counters;
    private final BpfMap waitScratch;
    private final BpfMap waits;
    private final @Nullable TaskTree tree;

    /**
     * What became of the records.
     *
     * @param sent arrived in a ring
     * @param dropped did not: ring full (also in its PERF_RECORD_LOST and PERF_FORMAT_LOST), or no
     *     event on the CPU
     * @param unreadable of those sent, how many have no bytes because the pointer was bad
     * @param unfollowed tasks left out because the tree had more than it can hold
     */
    public record Counters(long sent, long dropped, long unreadable, long unfollowed) {}

    private NamesProgram(@Nullable TaskTree tree, IntUnaryOperator outputs) throws IOException {
        this.tree = tree;
        if (tree != null) {
            parts.push(tree);
        }
        try {
            int cpus = MachineFacts.possibleCpus().length();
            events = map("sonde_names", MapType.PERF_EVENT_ARRAY, 4, cpus);
            scratch = map("sonde_scratch", MapType.PER_CPU_ARRAY, NamesCode.SCRATCH_BYTES, 1);
            waitScratch = map("sonde_wait", MapType.PER_CPU_ARRAY, NamesCode.SCRATCH_BYTES, 1);
            waits = map("sonde_waits", MapType.LRU_HASH, 8, WAITING_THREADS);
            counters = map("sonde_sent", MapType.ARRAY, 8 * NamesCode.COUNTERS, 1);
            MachineFacts.onlineCpus().stream().forEach(cpu -> output(cpu, outputs.applyAsInt(cpu)));
            attachAll();
            attachWaits();
        } catch (OutputException e) {
            close();
            throw e.failure;
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /**
     * Starts writing the calls of some processes and all their descendants.
     *
     * @param outputs descriptor, by CPU, of an enabled perf event of type PERF_TYPE_SOFTWARE,
     *     config PERF_COUNT_SW_BPF_OUTPUT (10), sample_type with PERF_SAMPLE_RAW, all tasks; -1 for
     *     a CPU without; they stay the caller's
     * @param rootPids kernel pids; empty is allowed, {@link #add} adds more
     * @throws sonde.bpf.BpfRefusedException when BPF is not allowed here, with the remedy
     */
    public static NamesProgram ofTree(IntUnaryOperator outputs, Set<Integer> rootPids)
            throws IOException {
        return new NamesProgram(TaskTree.open(rootPids), outputs);
    }

    /** As {@link #ofTree}, for all processes but this one. */
    public static NamesProgram ofAll(IntUnaryOperator outputs) throws IOException {
        return new NamesProgram(null, outputs);
    }

    private BpfMap map(String name, MapType type, int valueBytes, int entries) throws IOException {
        BpfMap map = BpfMap.create(new MapSpec(name, type, 4, valueBytes, entries));
        parts.push(map);
        return map;
    }

    private void output(int cpu, int fd) {
        if (fd >= 0) {
            try {
                events.put(cpu, fd);
            } catch (SyscallException e) {
                throw new OutputException(e);
            }
        }
    }

    private void attachAll() throws IOException {
        NamesCode code = new NamesCode(events, scratch, counters, tree);
        TracepointFormat exec = TracepointFormat.of("sched", "sched_process_exec");
        attach("sonde_exec", code.executed(exec), exec);
        for (NamedSyscall call : NamedSyscall.ALL) {
            if (attach(code, call)) {
                attached.add(call.name());
            }
        }
        for (NamedSyscall call : NamedSyscall.SAMPLED) {
            attach(code, call);
        }
    }

    /** Whether this architecture has the call. */
    private boolean attach(NamesCode code, NamedSyscall call) throws IOException {
        TracepointFormat exit = TracepointFormat.find("syscalls", "sys_exit_" + call.name());
        if (exit != null) {
            String name = "sonde_" + call.kind().name().toLowerCase(Locale.ROOT);
            attach(name, code.end(call), exit);
        }
        return exit != null;
    }

    /**
     * What a thread waits for is told when it leaves the CPU for it: a call that does not costs
     * nothing.
     */
    private void attachWaits() throws IOException {
        NamesCode names = new NamesCode(events, waitScratch, counters, tree);
        ProgramCode code = new WaitCode(names, waits).switched();
        try (Program program = Program.load("sonde_wait", ProgramType.RAW_TRACEPOINT, code)) {
            parts.push(Link.rawTracepoint(program, "sched_switch"));
        }
    }

    private void attach(String name, ProgramCode code, TracepointFormat tracepoint)
            throws IOException {
        hold(tracepoint);
        try (Program program = Program.load(name, ProgramType.TRACEPOINT, code)) {
            parts.push(Link.tracepoint(program, tracepoint));
        }
    }

    /** Opens an event that is never switched on: the link's is not the last of the tracepoint. */
    private void hold(TracepointFormat tracepoint) throws SyscallException {
        byte[] attr = PerfAttr.tracepoint(tracepoint.id()).flags(FLAG_DISABLED).build().encode();
        int cpu = MachineFacts.onlineCpus().nextSetBit(0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, attr);
            int fd = PerfEventOpen.open(bytes, -1, cpu, -1, 0, tracepoint.toString());
            held.add(fd);
        }
    }

    /**
     * Detaches the programs.
     *
     * @return events that {@link #close} has still to close, which takes long
     */
    public List<Integer> detach() {
        Deque<AutoCloseable> links = new ArrayDeque<>();
        parts.stream().filter(Link.class::isInstance).forEach(links::add);
        parts.removeAll(links);
        LinkCloser.all(links);
        return List.copyOf(held);
    }

    /** Follows another process from now on. */
    public void add(int pid) throws SyscallException {
        if (tree != null) {
            tree.addProcess(pid);
        }
    }

    /** The system calls whose names are all told; not every architecture has all. */
    public List<String> syscalls() {
        return List.copyOf(attached);
    }

    /** What became of the records so far. */
    public Counters counters() throws SyscallException {
        return new Counters(
                counters.word(NamesCode.SENT),
                counters.word(NamesCode.DROPPED),
                counters.word(NamesCode.UNREADABLE),
                tree == null ? 0 : tree.missed());
    }

    /** Detaches everything; the perf events stay. */
    @Override
    public void close() {
        LinkCloser.all(parts);
        held.forEach(Fd::discard);
        held.clear();
    }

    /** Carries a failure out of a stream. */
    private static final class OutputException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final SyscallException failure;

        OutputException(SyscallException failure) {
            super(failure);
            this.failure = failure;
        }
    }
}
