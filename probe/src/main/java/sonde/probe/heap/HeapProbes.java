package sonde.probe.heap;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static sonde.probe.heap.HeapLayout.BLOCK_BYTES;
import static sonde.probe.heap.HeapLayout.BLOCK_KEY_BYTES;
import static sonde.probe.heap.HeapLayout.BYTES;
import static sonde.probe.heap.HeapLayout.CALLS;
import static sonde.probe.heap.HeapLayout.FAILED;
import static sonde.probe.heap.HeapLayout.FAULT_BYTES;
import static sonde.probe.heap.HeapLayout.FREES;
import static sonde.probe.heap.HeapLayout.IMAGE;
import static sonde.probe.heap.HeapLayout.LIVE_BLOCKS;
import static sonde.probe.heap.HeapLayout.LIVE_BYTES;
import static sonde.probe.heap.HeapLayout.LOST_BLOCKS;
import static sonde.probe.heap.HeapLayout.LOST_STACKS;
import static sonde.probe.heap.HeapLayout.MISSED_FREES;
import static sonde.probe.heap.HeapLayout.MOST_FRAMES;
import static sonde.probe.heap.HeapLayout.PEAK_BLOCKS;
import static sonde.probe.heap.HeapLayout.PEAK_BYTES;
import static sonde.probe.heap.HeapLayout.PEAK_NANOS;
import static sonde.probe.heap.HeapLayout.PROCESS_BYTES;
import static sonde.probe.heap.HeapLayout.SAMPLES;
import static sonde.probe.heap.HeapLayout.SIZES;
import static sonde.probe.heap.HeapLayout.SIZE_CLASSES;
import static sonde.probe.heap.HeapLayout.STACK_KEY_BYTES;
import static sonde.probe.heap.HeapLayout.SUM_BYTES;
import static sonde.probe.heap.HeapLayout.TEMPORARY;
import static sonde.probe.heap.HeapLayout.THREAD_BYTES;
import static sonde.probe.heap.HeapLayout.UNKNOWN_FREES;
import static sonde.probe.heap.HeapLayout.VERSION;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Link;
import sonde.bpf.LinkCloser;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.link.Uprobes;
import sonde.bpf.link.Uprobes.UprobePoint;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;
import sonde.probe.heap.AllocatorPlaces.AllocatorPlace;
import sonde.probe.stack.UserStackFunction;
import sonde.probe.stack.UserStackFunction.CallingProgram;
import sonde.sys.Arch;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * Probes on the functions of allocators. The kernel unwinds the stack of each allocation, and keeps
 * the live blocks and sums by stack; nothing is read until somebody asks.
 */
public final class HeapProbes implements AutoCloseable {
    private static final int MOST_PROCESSES = 4096;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final Deque<Link> links = new ArrayDeque<>();
    private final HeapCode.HeapMaps maps;
    private final UserStackFunction unwinder;
    private final boolean multi;
    private final Program enter;
    private final Program leave;
    private final Program free;
    private @Nullable Program sampled;

    /**
     * What the kernel's memory has room for.
     *
     * @param blocks that are live at once; each takes about 80 bytes
     * @param stacks that differ; each takes about 1.2 KiB
     */
    public record HeapLimits(int blocks, int stacks) {
        /** 4 M blocks and 64 Ki stacks: 320 MB and 80 MB, taken as they come. */
        public static final HeapLimits USUAL = new HeapLimits(4 << 20, 1 << 16);
    }

    /** Loads the programs; nothing is probed yet. */
    private HeapProbes(HeapLimits limits) throws IOException {
        if (Arch.current() != Arch.X86_64) {
            throw new BpfRefusedException(
                    "sonde heap", Errno.ENOSYS, "the programs know the registers of x86-64", "");
        }
        try {
            maps =
                    new HeapCode.HeapMaps(
                            map("heap_process", MapType.HASH, 4, PROCESS_BYTES, MOST_PROCESSES),
                            map("heap_threads", MapType.TASK_STORAGE, 4, THREAD_BYTES, 0),
                            map(
                                    "heap_blocks",
                                    MapType.HASH,
                                    BLOCK_KEY_BYTES,
                                    BLOCK_BYTES,
                                    limits.blocks()),
                            map(
                                    "heap_stacks",
                                    MapType.HASH,
                                    STACK_KEY_BYTES,
                                    SUM_BYTES,
                                    limits.stacks()),
                            map(
                                    "heap_frames",
                                    MapType.HASH,
                                    STACK_KEY_BYTES,
                                    8 * MOST_FRAMES,
                                    limits.stacks()),
                            map(
                                    "heap_faults",
                                    MapType.HASH,
                                    STACK_KEY_BYTES,
                                    FAULT_BYTES,
                                    limits.stacks()));
            unwinder = UserStackFunction.unwinder();
            parts.push(unwinder);
            HeapCode code = new HeapCode(maps);
            ProgramCode end = code.leave();
            int call = code.stackCall();
            Program first = null;
            try {
                first = load("sonde_malloc", new HeapCode(maps).enter(), -1, true);
            } catch (SyscallException e) {
                if (e.errno() != Errno.EINVAL) {
                    throw e;
                }
            }
            multi = first != null;
            enter =
                    first != null
                            ? first
                            : load("sonde_malloc", new HeapCode(maps).enter(), -1, false);
            leave = load("sonde_malloc_end", end, call, multi);
            HeapCode freeing = new HeapCode(maps);
            ProgramCode freed = freeing.free();
            free = load("sonde_free", freed, freeing.stackCall(), multi);
            ProgramCode executed = new HeapCode(maps).execute();
            try (Program program =
                    Program.load(
                            new ProgramSpec("sonde_exec", ProgramType.RAW_TRACEPOINT, executed))) {
                parts.push(Link.rawTracepoint(program, "sched_process_exec"));
            }
        } catch (IOException | RuntimeException e) {
            LinkCloser.all(parts);
            throw e;
        }
    }

    /** Loads the programs; nothing is probed yet. */
    public static HeapProbes open(HeapLimits limits) throws IOException {
        return new HeapProbes(limits);
    }

    private BpfMap map(String name, MapType type, int key, int value, int entries)
            throws IOException {
        MapSpec spec = new MapSpec(name, type, key, value, entries);
        BpfMap map =
                BpfMap.create(type == MapType.HASH ? spec.with(MapSpec.NO_PREALLOCATION) : spec);
        parts.push(map);
        return map;
    }

    private Program load(String name, ProgramCode code, int stackCall, boolean multi)
            throws IOException {
        String cut = name.substring(0, Math.min(15, name.length()));
        ProgramSpec spec = new ProgramSpec(cut, ProgramType.KPROBE, code);
        if (multi) {
            spec = spec.expecting(AttachType.TRACE_UPROBE_MULTI);
        }
        if (stackCall < 0) {
            return kept(Program.load(spec));
        }
        BtfWriter types = new BtfWriter();
        int result = types.add(new BtfType.Int("int", 4, BtfType.Int.IntEncoding.SIGNED, 0, 32));
        int pointer = types.add(new BtfType.Ptr(0));
        int prototype =
                types.add(new BtfType.FuncProto(result, List.of(new BtfType.Param("c", pointer))));
        int main = types.add(new BtfType.Func(cut, BtfType.Linkage.STATIC, prototype));
        CallingProgram joined = unwinder.join(code, Set.of(stackCall), types);
        byte[] functions = new byte[8 + joined.functions().length];
        ByteBuffer.wrap(functions)
                .order(ByteOrder.nativeOrder())
                .putInt(0)
                .putInt(main)
                .put(joined.functions());
        try (LoadedBtf btf = LoadedBtf.load(types.bytes())) {
            ProgramSpec.Debug debug =
                    new ProgramSpec.Debug(btf.fd(), functions, 8, new byte[0], 16, true);
            return kept(Program.load(spec.with(joined.code()).with(debug)));
        }
    }

    private Program kept(Program program) {
        parts.push(program);
        return program;
    }

    /** Counts what a process does from now on; its files are to be attached, too. */
    public void follow(int pid) throws SyscallException {
        unwinder.process(pid);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(4, 8);
            key.set(JAVA_INT, 0, pid);
            maps.processes().put(key, arena.allocate(PROCESS_BYTES, 8));
        }
    }

    /** Makes the unwinder's tables of a command now. */
    public void prepare(List<String> words) {
        unwinder.command(words);
    }

    /**
     * Probes the allocator's functions in a file.
     *
     * @param pid whose calls are seen, or {@link Uprobes#ALL_PROCESSES}
     */
    public void attach(String path, List<AllocatorPlace> places, int pid) throws IOException {
        Map<Boolean, List<AllocatorPlace>> kinds =
                places.stream()
                        .collect(
                                Collectors.partitioningBy(
                                        place -> place.call() == AllocatorCall.SAMPLED));
        List<AllocatorPlace> samples = kinds.getOrDefault(true, List.of());
        List<AllocatorPlace> makes =
                kinds.getOrDefault(false, List.of()).stream()
                        .filter(place -> !place.call().frees())
                        .toList();
        List<AllocatorPlace> frees = places.stream().filter(place -> place.call().frees()).toList();
        // A block that is given out before its free is probed would stay for ever.
        attach(free, path, frees, false, pid);
        if (!samples.isEmpty()) {
            Program program = sampled;
            if (program == null) {
                HeapCode code = new HeapCode(maps);
                ProgramCode words = code.sampled();
                program = load("sonde_sampled", words, code.stackCall(), multi);
                sampled = program;
            }
            attach(program, path, samples, false, pid);
        }
        attach(leave, path, makes, true, pid);
        attach(enter, path, makes, false, pid);
    }

    private void attach(
            Program program, String path, List<AllocatorPlace> places, boolean atReturn, int pid)
            throws IOException {
        List<UprobePoint> points =
                places.stream()
                        .map(one -> new UprobePoint(one.offset(), 0, one.call().ordinal()))
                        .toList();
        if (points.isEmpty()) {
            return;
        }
        if (multi) {
            links.push(Uprobes.multi(program, path, points, atReturn, pid));
            return;
        }
        for (UprobePoint point : points) {
            links.push(Uprobes.attach(program, path, point, atReturn, pid));
        }
    }

    /**
     * The sums of a process.
     *
     * @param samples blocks that stand for some
     * @param image how many programs it had executed before this one since it was followed
     * @param sizes calls by the number of bits of their size
     */
    public record ProcessSums(
            int pid,
            int image,
            HeapSums sums,
            long peakNanos,
            long frees,
            long unknownFrees,
            long failed,
            long lostBlocks,
            long lostStacks,
            long missedFrees,
            long version,
            long samples,
            long[] sizes) {}

    /**
     * The sums of a stack.
     *
     * @param addresses innermost first
     */
    public record StackSums(int pid, long[] addresses, HeapSums sums) {}

    /** The sums of a process so far; null when it is not followed. */
    public @Nullable ProcessSums process(int pid) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(4, 8);
            key.set(JAVA_INT, 0, pid);
            MemorySegment value = arena.allocate(PROCESS_BYTES, 8);
            if (!maps.processes().get(key, value)) {
                return null;
            }
            long[] sizes = new long[SIZE_CLASSES];
            for (int i = 0; i < sizes.length; i++) {
                sizes[i] = value.get(JAVA_LONG, SIZES + 8L * i);
            }
            return new ProcessSums(
                    pid,
                    (int) value.get(JAVA_LONG, IMAGE),
                    sums(value, value.get(JAVA_LONG, VERSION), 0),
                    value.get(JAVA_LONG, PEAK_NANOS),
                    value.get(JAVA_LONG, FREES),
                    value.get(JAVA_LONG, UNKNOWN_FREES),
                    value.get(JAVA_LONG, FAILED),
                    value.get(JAVA_LONG, LOST_BLOCKS),
                    value.get(JAVA_LONG, LOST_STACKS),
                    value.get(JAVA_LONG, MISSED_FREES),
                    value.get(JAVA_LONG, VERSION),
                    value.get(JAVA_LONG, SAMPLES),
                    sizes);
        }
    }

    private static HeapSums sums(MemorySegment value, long version, long oldest) {
        boolean kept = value.get(JAVA_LONG, VERSION) == version;
        return new HeapSums(
                value.get(JAVA_LONG, CALLS),
                value.get(JAVA_LONG, BYTES),
                value.get(JAVA_LONG, LIVE_BLOCKS),
                value.get(JAVA_LONG, LIVE_BYTES),
                value.get(JAVA_LONG, kept ? PEAK_BLOCKS : LIVE_BLOCKS),
                value.get(JAVA_LONG, kept ? PEAK_BYTES : LIVE_BYTES),
                value.get(JAVA_LONG, TEMPORARY),
                oldest == 0 ? HeapSums.UNKNOWN : Clocks.nanos(Clocks.CLOCK_MONOTONIC) - oldest);
    }

    /** A stack's key in the maps. */
    private record StackKey(long hash, int pid, int image) {
        static StackKey of(MemorySegment key) {
            return new StackKey(key.get(JAVA_LONG, 0), key.get(JAVA_INT, 8), key.get(JAVA_INT, 12));
        }
    }

    /** Calls of free for blocks that are not allocated. */
    public record WrongFree(long[] addresses, long calls, long block) {}

    /** The wrong frees of the program that a process executes now, by stack. */
    public List<WrongFree> wrongFrees(ProcessSums process) throws SyscallException {
        Map<StackKey, long[]> faults = new HashMap<>();
        maps.faults()
                .forEach((key, value) -> {
                    StackKey stack = StackKey.of(key);
                    if (stack.pid() == process.pid() && stack.image() == process.image()) {
                        faults.put(
                                stack,
                                new long[] {value.get(JAVA_LONG, 0), value.get(JAVA_LONG, 8)});
                    }
                });
        List<WrongFree> all = new ArrayList<>();
        if (!faults.isEmpty()) {
            maps.frames()
                    .forEach((key, value) -> {
                        long[] fault = faults.get(StackKey.of(key));
                        if (fault != null) {
                            all.add(new WrongFree(addresses(value), fault[0], fault[1]));
                        }
                    });
        }
        return all;
    }

    private static long[] addresses(MemorySegment value) {
        long[] addresses = new long[MOST_FRAMES];
        int count = 0;
        while (count < MOST_FRAMES && value.get(JAVA_LONG, 8L * count) != 0) {
            addresses[count] = value.get(JAVA_LONG, 8L * count++);
        }
        return Arrays.copyOf(addresses, count);
    }

    /** The sums of all stacks of the program that a process executes now. */
    public List<StackSums> stacks(ProcessSums process) throws SyscallException {
        Map<StackKey, Long> oldest = new HashMap<>();
        maps.blocks()
                .forEach((key, value) ->
                        oldest.merge(
                                new StackKey(
                                        value.get(JAVA_LONG, 8),
                                        key.get(JAVA_INT, 8),
                                        key.get(JAVA_INT, 12)),
                                value.get(JAVA_LONG, 16),
                                Math::min));
        Map<StackKey, HeapSums> sums = new HashMap<>();
        maps.stacks()
                .forEach((key, value) -> {
                    StackKey stack = StackKey.of(key);
                    if (stack.pid() == process.pid() && stack.image() == process.image()) {
                        sums.put(
                                stack,
                                sums(value, process.version(), oldest.getOrDefault(stack, 0L)));
                    }
                });
        List<StackSums> all = new ArrayList<>();
        maps.frames()
                .forEach((key, value) -> {
                    HeapSums found = sums.get(StackKey.of(key));
                    if (found != null) {
                        all.add(new StackSums(process.pid(), addresses(value), found));
                    }
                });
        return all;
    }

    /** The frames of a word of a stack that stands for a function of a run time. */
    public List<Frame> frames(int pid, long word) {
        return unwinder.frames(pid, word);
    }

    /** What is to be said of the stacks, one sentence each. */
    public List<String> notes() throws IOException {
        return unwinder.notes();
    }

    /**
     * Detaches from the functions, those that allocate first. The sums stay as they are: of a
     * process that goes on they are read one after the other, and must belong together.
     */
    public void stop() {
        while (!links.isEmpty()) {
            links.pop().close();
        }
    }

    /** Detaches; nothing stays in the kernel. */
    @Override
    public void close() {
        stop();
        LinkCloser.all(parts);
    }
}
