package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.ProgramSpec;
import sonde.bpf.TaskTree;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.map.MappedValues;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;

/**
 * Whole user stacks for the events of perf rings: a program for each event unwinds the stack in the
 * kernel and writes it into the ring, next to the kernel's sample of the same hit ({@link
 * UserStackRecord}): before it for samples of a clock, behind it for tracepoints. A thread makes
 * the tables of files that the programs meet.
 *
 * <p>A program on a tracepoint is a raw one. One that hangs on the perf event itself would lose
 * hits: while any map update is preempted on a CPU, trace_call_bpf (kernel/trace/bpf_trace.c) drops
 * the perf events of tracepoints that have a program.
 */
public final class StackPrograms implements AutoCloseable {
    private static final int PERF_EVENT_IOC_SET_BPF = 0x40042408;

    /** The command waits at most so long for the tables of its files. */
    private static final long COMMAND_MILLIS = 5000;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final Map<Integer, UserStackProgram> programs = new HashMap<>();
    private final BpfMap outputs;
    private final MappedValues drains;
    private final UnwindFiles files;
    private final RuntimeNames names;
    private final MappingLog mappings = new MappingLog();
    private final StackCompletion completion;
    private final UserStackCounts ends = new UserStackCounts();
    private final TableMaker maker;
    private @Nullable TaskTree tree;

    private StackPrograms(
            List<EventKind> events, Set<Integer> rootPids, List<String> command, long ringBytes)
            throws IOException {
        try (KernelTypes types = KernelTypes.open()) {
            KernelFields fields = KernelFields.of(types.btf());
            UnwindTables tables = UnwindTables.open();
            parts.push(tables);
            files = new UnwindFiles(tables);
            names = RuntimeNames.of(tables);
            completion = new StackCompletion(files, mappings);
            maker = TableMaker.start(tables, files, names, command, rootPids);
            parts.push(maker);
            parts.push(RuntimeReader.start(tables.jvms(), names));
            if (!rootPids.isEmpty()) {
                tree = TaskTree.open(rootPids);
                parts.push(tree);
            }
            int cpus = MachineFacts.possibleCpus().length();
            outputs =
                    BpfMap.create(
                            new MapSpec("sonde_uw_out", MapType.PERF_EVENT_ARRAY, 4, 4, cpus));
            parts.push(outputs);
            BpfMap drained =
                    BpfMap.create(
                            new MapSpec("sonde_uw_drain", MapType.ARRAY, 4, 8, 1)
                                    .with(MapSpec.MAPPABLE));
            parts.push(drained);
            drains = MappedValues.of(drained, true);
            parts.push(drains);
            // Half of a ring for copies, whatever their event.
            int copied = (int) Math.min(ringBytes / (2 * events.size() + 1), Integer.MAX_VALUE);
            int own = rootPids.isEmpty() ? (int) ProcessHandle.current().pid() : 0;
            UserStackProgram.Surroundings shared =
                    new UserStackProgram.Surroundings(
                            fields, tables, outputs, tree, own, drained, copied);
            for (EventKind event : events) {
                UserStackProgram program =
                        UserStackProgram.load(shared, event, ProgramSpec.Log.QUIET);
                parts.push(program);
                programs.put(event.number(), program);
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /**
     * An event whose hits get stacks.
     *
     * @param number that its records carry
     * @param name of the tracepoint, where it is one
     * @param filtered whether not every hit makes a sample
     */
    public record EventKind(int number, String name, HitSource source, boolean filtered) {
        /** Whether the program asks the perf event if this hit made a sample. */
        boolean isCounted() {
            return source == HitSource.SYSCALL || source == HitSource.TRACEPOINT && filtered;
        }
    }

    /**
     * Loads the programs.
     *
     * @param rootPids whose trees get stacks; empty for all processes but this one
     * @param command whose files are read first; empty without one
     * @param ringBytes of the ring of a CPU
     * @throws IOException when the kernel refuses; stacks are then taken by frame pointers
     */
    public static StackPrograms load(
            List<EventKind> events, Set<Integer> rootPids, List<String> command, long ringBytes)
            throws IOException {
        return new StackPrograms(events, rootPids, command, ringBytes);
    }

    /** Unwinds stacks of another process, too; its files are read when the kernel asks for them. */
    public void follow(int pid) throws SyscallException {
        if (tree != null) {
            tree.addProcess(pid);
        }
    }

    /**
     * Attaches; when the events are open, so that their samples come before the stacks of raw
     * tracepoints, and before they are enabled.
     *
     * @param outputFds descriptor of the bpf-output event of each CPU
     * @param eventFds descriptors of each event of each CPU, by its number
     */
    public void attach(
            Map<Integer, Integer> outputFds, Map<Integer, Map<Integer, List<Integer>>> eventFds)
            throws IOException {
        for (Map.Entry<Integer, Integer> output : outputFds.entrySet()) {
            outputs.put(output.getKey(), output.getValue());
        }
        for (UserStackProgram one : programs.values()) {
            Map<Integer, List<Integer>> fds = eventFds.getOrDefault(one.event().number(), Map.of());
            if (!fds.isEmpty()) {
                attach(one, fds);
            }
        }
        maker.awaitCommand(COMMAND_MILLIS);
    }

    private void attach(UserStackProgram one, Map<Integer, List<Integer>> fds) throws IOException {
        HitSource source = one.event().source();
        int program = one.program().fd();
        switch (source) {
            case TRACEPOINT, SYSCALL -> {
                one.count(fds);
                parts.push(Link.rawTracepoint(one.program(), source.rawName(one.event().name())));
            }
            case SAMPLE -> {
                for (List<Integer> cpu : fds.values()) {
                    for (int fd : cpu) {
                        Fd.ioctl(fd, PERF_EVENT_IOC_SET_BPF, program);
                    }
                }
            }
            // One descriptor stands for the uprobe of all CPUs.
            case UPROBE ->
                    Fd.ioctl(
                            fds.values().iterator().next().getFirst(),
                            PERF_EVENT_IOC_SET_BPF,
                            program);
        }
    }

    /** Whether an event's hits get stacks, so that the kernel need not follow frame pointers. */
    public boolean unwinds(int number) {
        return programs.containsKey(number);
    }

    /** Whether the stacks of an event come behind its samples. */
    public boolean comesBehind(int number) {
        UserStackProgram program = programs.get(number);
        return program != null && program.event().source().isBehind();
    }

    /**
     * Unwinds the rest of a stack whose last frame met a file without a table; by one thread.
     *
     * @param frames that are there, innermost first
     * @param count of them
     * @param copy the record of the copy that came before ({@link UserStackRecord#isCopy})
     * @return how many frames there are now
     */
    public int complete(int pid, long[] frames, int count, MemorySegment copy) throws IOException {
        return completion.complete(pid, frames, count, copy);
    }

    /** Takes what perf's records tell of mappings, before the stacks of the same time. */
    public MappingLog mappings() {
        return mappings;
    }

    /** The path from our root of a mapped file that was opened for its table; empty for none. */
    public String path(MappedRange range) {
        return files.path(range);
    }

    /** The events are switched off: from now on stacks wait for their tables. */
    public void waitForTables() {
        completion.waitForTables();
    }

    /** The rings were emptied; by one thread. */
    public void drained() {
        MemorySegment count = drains.segment();
        count.set(JAVA_LONG, 0, count.get(JAVA_LONG, 0) + 1);
    }

    /** Whether a table is being made that stacks in the rings may lack. */
    public boolean isMaking() {
        return maker.isMaking();
    }

    /** Waits until what the programs reported was dealt with, though not long. */
    public void awaitTables(long millis) {
        maker.awaitQuiet(millis);
        names.readWanted();
    }

    /** Why {@link #complete} stopped. */
    public UserStackEnd completedEnd() {
        return completion.end();
    }

    /**
     * Puts addresses in place of the frames of run times of a stack.
     *
     * @param nanos time of the stack's sample
     * @return whether the innermost frame has no other name: its code is in no file
     */
    public boolean nameRunTimes(int pid, long nanos, long[] frames, int count) {
        boolean has = false;
        boolean isCode =
                count > 0
                        && RuntimeWord.is(frames[0])
                        && RuntimeWord.kind(frames[0]) != RuntimeWord.PYTHON;
        for (int i = 0; i < count; i++) {
            if (RuntimeWord.is(frames[i])) {
                frames[i] = names.address(pid, frames[i]);
                has = true;
            }
        }
        if (has) {
            names.met(pid, nanos);
        }
        return isCode;
    }

    /** Processes that have frames of run times since the last time, and when first. */
    public Map<Integer, Long> takeRunTimes() {
        return names.takeProcesses();
    }

    /** Names of the frames of run times for other programs; empty without any. */
    public byte[] symbolFile() {
        return names.symbolFile();
    }

    /** More of the file {@link sonde.symbol.RuntimeFrames#FILE}. */
    public byte[] runTimeLines() {
        return names.takeLines();
    }

    /**
     * Counts a stack that goes into a sample.
     *
     * @param number of the event
     * @param last address of its outermost frame
     */
    public void count(int number, UserStackEnd end, int pid, long last) {
        UserStackProgram program = programs.get(number);
        if (program != null) {
            ends.add(program.event().name(), end, () -> mappings.find(pid, last), last);
        }
    }

    /** How many stacks of which event ended in which way, and where. */
    public Map<String, Map<String, Long>> endsByEvent() {
        return ends.byEvent();
    }

    /** What went wrong, one sentence each. */
    public List<String> notes() {
        List<String> all = new ArrayList<>(files.notes());
        all.addAll(names.notes());
        UserStackCounts.sentence(ends.all()).ifPresent(all::add);
        return all;
    }

    /** Detaches; nothing stays in the kernel. */
    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
