package sonde.probe.syscall;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramSpec.Debug;
import sonde.bpf.ProgramType;
import sonde.bpf.TaskTree;
import sonde.bpf.link.Uprobes;
import sonde.bpf.link.Uprobes.UprobePoint;
import sonde.bpf.ring.RingBuffer;
import sonde.probe.syscall.CallCode.CallMaps;
import sonde.probe.syscall.LibraryCode.LibraryKernel;
import sonde.probe.syscall.LibraryCode.LibraryMaps;
import sonde.recording.syscall.CaptureOp.CallPlan;
import sonde.sys.MachineFacts;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Captures calls of functions of some processes' programs and libraries: the records are those of
 * system calls, with the number of a {@link LibraryProbe} in place of a call's.
 *
 * <p>A process stops (SIGSTOP) where its loader has mapped libraries and before any of their code
 * runs; it goes on as soon as their functions have probes. Probes exist in the memory of followed
 * processes only.
 */
public final class LibrarySession implements CallSource.Streamed {
    private static final int MOST_PROBES = 1 << 14;
    private static final int KEPT_CALLS = 1 << 14;
    private static final int RING_BYTES = 64 << 20;

    /**
     * A function that is probed.
     *
     * @param file identity of its file, the same in every process
     * @param path by which the file can be opened now
     * @param offset of the probe in the file
     * @param function where the function begins
     * @param library as shown
     * @param anyCaller whether calls from everywhere are captured, not only the main program's
     * @param returns whether its return is captured
     */
    public record LibraryProbe(
            String file,
            String path,
            long offset,
            long function,
            String name,
            String library,
            CallPlan plan,
            boolean anyCaller,
            boolean returns) {
        private String key() {
            return file + ":" + offset + ":" + name;
        }

        private long cookie(int number) {
            boolean keeps =
                    plan.exit().stream().anyMatch(op -> op.argument() < 6 || op.source() == 1);
            return (long) number << LibraryCode.NUMBER_SHIFT
                    | (anyCaller ? LibraryCode.ANY_CALLER : 0)
                    | (returns ? 0 : LibraryCode.NO_RETURN)
                    | (keeps && returns ? LibraryCode.KEEPS_ARGUMENTS : 0);
        }
    }

    /** Says what is probed. */
    public interface LibraryChooser {
        /** All functions of the process as it is now; called whenever it has mapped something. */
        List<LibraryProbe> functions(int pid) throws IOException;

        /** The places where the loaders of programs announce changes. */
        List<LibraryProbe> loaders() throws IOException;
    }

    private final FollowedCalls programs;
    private final LibraryChooser chooser;
    private final BpfMap lost;
    private final CallRing ring;
    private final BpfMap plans;
    private final @Nullable BpfMap counts;
    private final Program stop;
    private final FutureTask<Program> session;
    private final ExecutorService attaching =
            Executors.newSingleThreadExecutor(
                    work -> Thread.ofPlatform().daemon().name("libraries").unstarted(work));
    private final List<LibraryProbe> probes = new CopyOnWriteArrayList<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private volatile boolean closed;
    private final Map<Integer, List<Link>> links = new HashMap<>();
    private final Set<String> attached = new HashSet<>();
    private final List<String> refused = new CopyOnWriteArrayList<>();

    private LibrarySession(
            Set<Integer> pids, LibraryChooser chooser, boolean descendants, boolean counting)
            throws IOException {
        this.chooser = chooser;
        programs = new FollowedCalls(true, 4);
        try {
            FutureTask<LibraryKernel> types =
                    FollowedCalls.inBackground("types", LibraryKernel::read);
            LibraryMaps maps = maps();
            counts = counting ? counts() : null;
            plans = maps.plans();
            lost = maps.lost();
            stop = programs.keep(load("sonde_loader", LibraryCode.stop(maps.ring())));
            ring =
                    new CallRing(
                            programs.keep(RingBuffer.open(maps.ring())),
                            pid -> later(() -> arrived(pid)));
            session =
                    FollowedCalls.inBackground(
                            "load", () -> session(maps, counts, Awaited.of(types)));
            programs.keep(() -> Awaited.of(session).close());
            CallMaps life =
                    new CallMaps(
                            plans,
                            plans,
                            programs.map(
                                    "sonde_life",
                                    MapType.ARRAY,
                                    4,
                                    CapturedCode.RECORD_BYTES,
                                    maps.cpus()),
                            maps.ring(),
                            lost);
            programs.attach("sched_process_exit", life(life).end());
            programs.attach("sched_process_exec", life(life).executed());
            programs.attach("signal_generate", life(life).sent());
            programs.attach("signal_deliver", life(life).signal());
            if (descendants) {
                programs.attach("sched_process_fork", life(life).forked());
                programs.attach("sys_exit", LibraryCode.born(programs.tree(), maps.ring()));
            }
            for (int pid : pids) {
                follow(pid);
                attach(pid, chooser.functions(pid));
            }
        } catch (IOException | RuntimeException e) {
            attaching.shutdownNow();
            links.values().forEach(all -> all.forEach(Link::close));
            programs.close();
            throw e;
        }
        ring.start();
    }

    private CallCode life(CallMaps maps) throws IOException {
        return new CallCode(maps, programs.tree(), programs.fields(), Map.of());
    }

    /**
     * Attaches.
     *
     * @param pids processes that run
     * @param descendants whether processes that they make are followed, too
     * @param counting whether calls are counted in the kernel instead of captured
     * @throws sonde.bpf.BpfRefusedException when this user or kernel may not
     */
    public static LibrarySession open(
            Set<Integer> pids, LibraryChooser chooser, boolean descendants, boolean counting)
            throws IOException {
        return new LibrarySession(pids, chooser, descendants, counting);
    }

    private LibraryMaps maps() throws IOException {
        int cpus = MachineFacts.possibleCpus().length();
        return new LibraryMaps(
                programs.map(
                        "sonde_functions", MapType.ARRAY, 4, CapturedCode.PLAN_BYTES, MOST_PROBES),
                programs.map(
                        "sonde_calls",
                        MapType.ARRAY,
                        4,
                        LibraryCode.SLOT_BYTES,
                        cpus * LibraryCode.SLOTS),
                programs.map(
                        "sonde_arguments",
                        MapType.LRU_HASH,
                        8,
                        LibraryCode.ARGUMENT_BYTES,
                        KEPT_CALLS),
                programs.map("sonde_call_ring", MapType.RING_BUFFER, 0, 0, RING_BYTES),
                programs.map("sonde_call_lost", MapType.ARRAY, 4, 8, 1),
                cpus);
    }

    private BpfMap counts() throws IOException {
        return programs.map(
                "sonde_counts", MapType.PER_CPU_ARRAY, 4, CountCode.SUM_BYTES, MOST_PROBES);
    }

    /** What was counted; numbers are those of probes. */
    public List<CallCounter.CountedCall> sums() throws SyscallException {
        return counts == null ? List.of() : CallCounter.sums(counts, index -> index);
    }

    private static Program load(String name, sonde.bpf.insn.ProgramCode code) throws IOException {
        return Program.load(
                new ProgramSpec(name, ProgramType.KPROBE, code)
                        .expecting(AttachType.TRACE_UPROBE_MULTI));
    }

    private static Program session(LibraryMaps maps, @Nullable BpfMap counts, LibraryKernel kernel)
            throws IOException {
        if (counts != null) {
            return Program.load(
                    new ProgramSpec(
                                    "sonde_count",
                                    ProgramType.KPROBE,
                                    LibraryCode.count(counts, kernel))
                            .expecting(AttachType.TRACE_UPROBE_SESSION));
        }
        LibraryCode source = new LibraryCode(maps, kernel);
        ProgramSpec plain =
                new ProgramSpec("sonde_function", ProgramType.KPROBE, source.session())
                        .expecting(AttachType.TRACE_UPROBE_SESSION)
                        .with(ProgramSpec.SLEEPABLE);
        BtfWriter types = new BtfWriter();
        byte[] functions = source.types(types, plain.name());
        try (LoadedBtf btf = LoadedBtf.load(types.bytes())) {
            return Program.load(
                    plain.with(new Debug(btf.fd(), functions, 8, new byte[0], 16, true)));
        }
    }

    private void later(Runnable work) {
        try {
            attaching.execute(work);
        } catch (RejectedExecutionException e) {
            return; // closed meanwhile; the close wakes those that wait
        }
    }

    /** A process waits because its loader has mapped something. */
    private void arrived(int pid) {
        try {
            if (!closed) {
                detachEnded();
                if (!links.containsKey(pid)) {
                    attachLoaders(pid);
                }
                attach(pid, chooser.functions(pid));
            }
        } catch (IOException e) {
            refused.add("process " + pid + ": " + e.getMessage());
        } finally {
            try {
                ProcessCalls.kill(pid, ProcessCalls.SIGCONT);
            } catch (SyscallException e) {
                refused.add("process " + pid + " has ended");
            }
        }
    }

    private synchronized void attach(int pid, List<LibraryProbe> wanted) throws IOException {
        Map<String, List<LibraryProbe>> files = new HashMap<>();
        for (LibraryProbe probe : wanted) {
            if (attached.add(pid + ":" + probe.key())) {
                files.computeIfAbsent(probe.path(), _ -> new ArrayList<>()).add(probe);
            }
        }
        for (Map.Entry<String, List<LibraryProbe>> file : files.entrySet()) {
            List<UprobePoint> points = new ArrayList<>();
            for (LibraryProbe probe : file.getValue()) {
                int number = number(probe);
                if (number >= 0) {
                    points.add(new UprobePoint(probe.offset(), 0, probe.cookie(number)));
                }
            }
            attach(pid, file.getKey(), points);
        }
    }

    /** One place that the kernel refuses costs only itself. */
    private void attach(int pid, String path, List<UprobePoint> points) throws IOException {
        if (points.isEmpty()) {
            return;
        }
        try {
            keep(pid, Uprobes.multi(Awaited.of(session), path, points, false, pid));
        } catch (SyscallException e) {
            if (points.size() == 1) {
                int number = (int) (points.getFirst().cookie() >> LibraryCode.NUMBER_SHIFT);
                refused.add(probes.get(number).name() + ": " + e.getMessage());
                return;
            }
            int half = points.size() / 2;
            attach(pid, path, points.subList(0, half));
            attach(pid, path, points.subList(half, points.size()));
        }
    }

    private int number(LibraryProbe probe) throws SyscallException {
        Integer known = numbers.get(probe.key());
        if (known != null) {
            return known;
        }
        int number = probes.size();
        if (number == MOST_PROBES) {
            refused.add(probe.name() + ": more than " + MOST_PROBES + " functions");
            return -1;
        }
        CallSession.put(plans, number, probe.plan());
        probes.add(probe);
        numbers.put(probe.key(), number);
        return number;
    }

    /** The function of a record's number. */
    public LibraryProbe probe(long number) {
        return probes.get((int) number);
    }

    /** Functions that could not be probed, with reasons. */
    public List<String> refused() {
        return List.copyOf(refused);
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
    public void follow(int pid) throws IOException {
        programs.follow(pid, TaskTree.NEW_MEMBER);
        programs.tree().addThread(pid, TaskTree.NEW_MEMBER | LibraryCode.KNOWN);
        attachLoaders(pid);
    }

    private synchronized void attachLoaders(int pid) throws IOException {
        for (LibraryProbe loader : chooser.loaders()) {
            UprobePoint point = new UprobePoint(loader.offset());
            keep(pid, Uprobes.multi(stop, loader.path(), List.of(point), false, pid));
        }
    }

    private void keep(int pid, Link link) {
        links.computeIfAbsent(pid, _ -> new ArrayList<>()).add(link);
    }

    /** Detaches from processes that have ended; each link holds a descriptor. */
    private synchronized void detachEnded() {
        for (int pid : List.copyOf(links.keySet())) {
            if (!Files.exists(Path.of("/proc/" + pid))) {
                links.getOrDefault(pid, List.of()).forEach(Link::close);
                links.remove(pid);
                attached.removeIf(key -> key.startsWith(pid + ":"));
            }
        }
    }

    @Override
    public long lost() throws SyscallException {
        return lost.word(0);
    }

    @Override
    public void finish() {
        ring.finish();
    }

    /** Detaches; nothing stays in the kernel, and nobody waits. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            links.values().forEach(all -> all.forEach(Link::close));
            links.clear();
        }
        // Who was stopped before that goes on.
        ring.drain();
        attaching.close();
        ring.close();
        programs.close();
    }
}
