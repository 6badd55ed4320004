package sonde.probe.kmem;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Link;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.TaskTree;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.link.Kprobes;
import sonde.bpf.link.Kprobes.KprobePoint;
import sonde.bpf.link.TracingLinks;
import sonde.bpf.map.MappedValues;
import sonde.probe.kmem.KmemCode.KernelText;
import sonde.probe.kmem.KmemCode.KmemMaps;
import sonde.symbol.KernelSymbols;
import sonde.sys.Arch;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * Keeps each allocation of the kernel with its stack until it is freed, in the kernel. All programs
 * are on raw tracepoints, whose hits no other program can take away.
 */
public final class KmemSession implements AutoCloseable {
    private static final int MOST_STACKS = 1 << 14;
    private static final int COPIES = 3;
    private static final Pattern NAMED =
            Pattern.compile("([\\w.$]{1,80})\\+0x([0-9a-f]{1,8})/0x[0-9a-f]+ (\\[[\\w-]{1,60}\\])");

    /**
     * What is watched.
     *
     * @param allTasks whether allocations of all tasks are kept, else of followed ones
     * @param pages whether whole pages are watched, too
     * @param mostObjects that are kept at a time
     */
    public record KmemRequest(boolean allTasks, boolean pages, int mostObjects) {}

    /**
     * Equal allocations that are live.
     *
     * @param stack number of {@link #stack}
     * @param cache struct kmem_cache; 0 when the event does not tell
     * @param period as {@link #period} said when they were made
     */
    public record LiveKey(
            long stack,
            AllocationKind kind,
            long requested,
            long allocated,
            long cache,
            int gfp,
            int pid,
            int period) {}

    /** The addresses of equal allocations; those of struct page for pages. */
    public static final class LiveObjects {
        private long[] addresses = new long[4];
        private int count;

        private LiveObjects() {}

        private void add(long address) {
            if (count == addresses.length) {
                addresses = Arrays.copyOf(addresses, 2 * count);
            }
            addresses[count++] = address;
        }

        /** All of them, sorted. */
        public long[] sorted() {
            long[] all = Arrays.copyOf(addresses, count);
            Arrays.sort(all);
            return all;
        }
    }

    /**
     * What is not in the table.
     *
     * @param noRoom allocations for which it was full
     * @param noStack allocations whose stack could not be kept
     * @param missed events during which the same program ran on the CPU
     * @param reused objects whose free was not seen and whose address was handed out again
     */
    public record KmemLosses(long noRoom, long noStack, long missed, long reused) {}

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final List<Program> allocating = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private final KmemMaps maps;
    private final @Nullable TaskTree tasks;
    private final SlabMemory slabs;
    private final MappedValues control;

    private KmemSession(KmemRequest request, KernelSymbols symbols) throws IOException {
        try (KernelTypes types = KernelTypes.open()) {
            maps =
                    new KmemMaps(
                            map(
                                    "live",
                                    MapType.HASH,
                                    8,
                                    KmemCode.OBJECT_BYTES,
                                    request.mostObjects),
                            map("stacks", MapType.HASH, 8, KmemCode.STACK_BYTES, MOST_STACKS),
                            map("scratch", MapType.PER_CPU_ARRAY, 4, KmemCode.STACK_BYTES, 16),
                            keep(
                                    BpfMap.create(
                                            new MapSpec(
                                                            "sonde_control",
                                                            MapType.ARRAY,
                                                            4,
                                                            KmemCode.CONTROL_BYTES,
                                                            1)
                                                    .with(MapSpec.MAPPABLE))),
                            map("names", MapType.HASH, 8, KmemCode.NAME_BYTES, MOST_STACKS),
                            keep(format()),
                            map("seen", MapType.ARRAY, 4, KmemCode.SEEN_BYTES, 1));
            control = keep(MappedValues.of(maps.control(), true));
            KernelText text =
                    new KernelText(symbols.addressOf("_stext"), symbols.addressOf("_etext"));
            tasks = request.allTasks ? null : keep(TaskTree.open(Set.of()));
            slabs = new SlabMemory(keep(KernelPeek.open()), types.btf(), symbols);
            // Frees first: what is kept is never older than the programs that forget it.
            frees(types, request.pages);
            int slot = 0;
            for (AllocationEvent event : AllocationEvent.of(types, request.pages)) {
                // Before the one that keeps: a new object must stay.
                attach(event.tracepoint(), new KmemCode(maps, null).freed(event.pointer()));
                Program program =
                        attach(
                                event.tracepoint(),
                                new KmemCode(maps, tasks).allocated(event, slot++, text));
                allocating.add(program);
            }
            if (AllocationEvent.arguments(types.btf(), "alloc_vmap_area").isEmpty()) {
                areas(types, slot, text);
            }
        } catch (IOException | RuntimeException e) {
            LinkCloser.all(parts);
            throw e;
        }
    }

    /**
     * Attaches; nothing is kept before {@link #keep(boolean)}.
     *
     * @param symbols of the running kernel
     * @throws BpfRefusedException when this user or kernel may not
     */
    public static KmemSession open(KmemRequest request, KernelSymbols symbols) throws IOException {
        return new KmemSession(request, symbols);
    }

    private <T extends AutoCloseable> T keep(T part) {
        parts.push(part);
        return part;
    }

    private BpfMap map(String name, MapType type, int key, int value, int entries)
            throws IOException {
        return keep(BpfMap.create(new MapSpec("sonde_" + name, type, key, value, entries)));
    }

    /**
     * Several times each: a program is passed over while it runs on the same CPU, in an interrupt
     * of it or when the kernel has preempted it (raw tracepoints since Linux 6.18 do not disable
     * preemption). One that has forgotten an object costs the others a look in the table.
     */
    private void frees(KernelTypes types, boolean pages) throws IOException {
        Map<String, Integer> events = new HashMap<>();
        events.put("kfree", 1);
        events.put("kmem_cache_free", 1);
        events.put("percpu_free_percpu", 2);
        events.put("free_vmap_area_noflush", 0);
        if (pages) {
            events.put("mm_page_free", 0);
        }
        for (Map.Entry<String, Integer> event : events.entrySet()) {
            if (!AllocationEvent.arguments(types.btf(), event.getKey()).isEmpty()) {
                for (int i = 0; i < COPIES; i++) {
                    attach(event.getKey(), new KmemCode(maps, null).freed(event.getValue()));
                }
            }
        }
    }

    private Program attach(String tracepoint, ProgramCode code) throws IOException {
        String name = "sonde_" + tracepoint;
        Program program =
                keep(
                        Program.load(
                                new ProgramSpec(
                                        name.substring(0, Math.min(15, name.length())),
                                        ProgramType.RAW_TRACEPOINT,
                                        code)));
        keep(Link.rawTracepoint(program, tracepoint));
        return program;
    }

    /** Before Linux 6.2 vmalloc has no events: its functions are probed. */
    private void areas(KernelTypes types, int slot, KernelText text) throws IOException {
        // void *__vmalloc_node_range(size, align, start, end, gfp, prot, flags, node, caller)
        String makes = "__vmalloc_node_range";
        try {
            if (Arch.current() != Arch.X86_64) {
                throw new BpfRefusedException(
                        makes, Errno.ENOSYS, "the registers of x86-64 alone are known", "");
            }
            BpfMap begun = map("areas", MapType.HASH, 8, KmemCode.OBJECT_BYTES, MOST_STACKS);
            function(
                    types,
                    "vfree",
                    AttachType.TRACE_FENTRY,
                    new KmemCode(maps, null).freedByFunction());
            ProgramCode made = new KmemCode(maps, tasks).areaMade(begun);
            probe(KprobePoint.exit(makes), made);
            probe(
                    KprobePoint.entry(makes),
                    new KmemCode(maps, tasks).areaBegins(begun, slot, text));
        } catch (IOException e) {
            missing.add(
                    "areas of vmalloc are not seen: this kernel has no events for them, and its"
                            + " functions cannot be probed ("
                            + e.getMessage()
                            + ")");
        }
    }

    private void probe(KprobePoint place, ProgramCode code) throws IOException {
        String name = place.atReturn() ? "sonde_area_made" : "sonde_area";
        Program program = keep(Program.load(new ProgramSpec(name, ProgramType.KPROBE, code)));
        keep(Kprobes.attach(program, place, 0));
    }

    private void function(KernelTypes types, String name, AttachType place, ProgramCode code)
            throws IOException {
        String shown = "sonde_" + name;
        Program program =
                keep(
                        Program.load(
                                new ProgramSpec(
                                                shown.substring(0, Math.min(15, shown.length())),
                                                ProgramType.TRACING,
                                                code)
                                        .targeting(place, types.function(name))));
        keep(TracingLinks.attach(program));
    }

    /** Follows a process and what it starts. */
    public void follow(int pid) throws SyscallException {
        if (tasks != null) {
            tasks.addProcess(pid);
        }
    }

    /** Whether processes that are watched still run; those of the whole machine always do. */
    public boolean hasTasks() throws SyscallException {
        return tasks == null || !tasks.isEmpty();
    }

    /** Keeps what is allocated from now on, or keeps no more of it; frees always count. */
    public void keep(boolean on) {
        control(KmemCode.PHASE, on ? 1 : 0);
    }

    /** Gives what is kept from now on this number. */
    public void period(int number) {
        control(KmemCode.PERIOD, number);
    }

    private void control(int offset, int value) {
        control.segment().set(JAVA_INT, offset, value);
        VarHandle.fullFence();
    }

    /** %pS for bpf_snprintf, which takes its format from memory that nobody can change. */
    private static BpfMap format() throws IOException {
        BpfMap map =
                BpfMap.create(
                        new MapSpec("sonde_format", MapType.ARRAY, 4, 4, 1)
                                .with(MapSpec.READ_ONLY_IN_PROGRAMS));
        try (Arena arena = Arena.ofConfined()) {
            map.put(arena.allocateFrom(JAVA_INT, 0), arena.allocateFrom("%pS"));
            map.freeze();
            return map;
        } catch (IOException e) {
            map.close();
            throw e;
        }
    }

    /**
     * The functions of the code that was elsewhere than the kernel itself, as lines of kallsyms:
     * those of modules that were unloaded since are among them.
     */
    public String moduleSymbols() throws SyscallException {
        Set<String> lines = new TreeSet<>();
        maps.names()
                .forEach((key, value) -> {
                    byte[] text = value.toArray(JAVA_BYTE);
                    int end = 0;
                    while (end < text.length && text[end] != 0) {
                        end++;
                    }
                    Matcher named =
                            NAMED.matcher(new String(text, 0, end, StandardCharsets.US_ASCII));
                    if (named.matches()) {
                        long start = key.get(JAVA_LONG, 0) - Long.parseLong(named.group(2), 16);
                        lines.add(
                                "%016x t %s\t%s%n"
                                        .formatted(start, named.group(1), named.group(3)));
                    }
                });
        return String.join("", lines);
    }

    /** All that is live now, equal allocations together. */
    public Map<LiveKey, LiveObjects> live() throws SyscallException {
        Map<LiveKey, LiveObjects> all = new HashMap<>();
        AllocationKind[] kinds = AllocationKind.values();
        maps.live()
                .forEach((key, value) -> {
                    int kind = Math.clamp(value.get(JAVA_INT, 36), 0, kinds.length - 1);
                    LiveKey equal =
                            new LiveKey(
                                    value.get(JAVA_LONG, 0),
                                    kinds[kind],
                                    value.get(JAVA_LONG, 8),
                                    value.get(JAVA_LONG, 16),
                                    value.get(JAVA_LONG, 24),
                                    value.get(JAVA_INT, 32),
                                    value.get(JAVA_INT, 40),
                                    value.get(JAVA_INT, 44));
                    all.computeIfAbsent(equal, _ -> new LiveObjects()).add(key.get(JAVA_LONG, 0));
                });
        return all;
    }

    /** The addresses of a stack's frames, the innermost first; none when it was not kept. */
    public long[] stack(long number) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment frames = arena.allocate(KmemCode.STACK_BYTES, 8);
            boolean known =
                    number != 0 && maps.stacks().get(arena.allocateFrom(JAVA_LONG, number), frames);
            long[] all = known ? frames.toArray(JAVA_LONG) : new long[0];
            int depth = 0;
            while (depth < all.length && all[depth] != 0) {
                depth++;
            }
            return Arrays.copyOf(all, depth);
        }
    }

    /** Forgets objects that are known to be freed, so that they are not looked at again. */
    public void forget(Collection<Long> addresses) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keys = arena.allocate(JAVA_LONG, Math.max(1, addresses.size()));
            int count = 0;
            for (long address : addresses) {
                keys.setAtIndex(JAVA_LONG, count++, address);
            }
            maps.live().deleteAll(keys, count);
        }
    }

    /** The slabs; empty of answers until a cache is known. */
    public SlabMemory slabs() throws IOException {
        slabs.locate(maps.control().word(KmemCode.A_CACHE));
        return slabs;
    }

    /** What was not kept. */
    public KmemLosses losses() throws SyscallException {
        long missed = 0;
        for (Program program : allocating) {
            missed += program.facts().missed();
        }
        return new KmemLosses(
                maps.control().word(KmemCode.FULL),
                maps.control().word(KmemCode.NO_STACK),
                missed,
                maps.control().word(KmemCode.REUSED));
    }

    /** Kinds of memory that this kernel does not tell of, a sentence each. */
    public List<String> missing() {
        return List.copyOf(missing);
    }

    /** Detaches; nothing stays in the kernel. */
    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
