package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.link.KernelIterator;
import sonde.bpf.ring.PerfBuffer;
import sonde.bpf.ring.RingBuffer;
import sonde.lang.bpftrace.expand.ScriptConfig;
import sonde.lang.bpftrace.expand.WatchedFilter;
import sonde.lang.bpftrace.lower.ScriptLosses;
import sonde.lang.bpftrace.lower.ScriptLosses.LossReason;
import sonde.lang.bpftrace.lower.ScriptUnit;
import sonde.lang.output.MapRows;
import sonde.lang.output.ScriptOutput;
import sonde.lang.output.ValueNames;
import sonde.lang.probes.AttachException;
import sonde.lang.probes.AttachOptions;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.probes.Probe.WatchpointProbe;
import sonde.lang.probes.ProbeAttacher;
import sonde.lang.probes.ProbeAttacher.AttachedGroup;
import sonde.sys.SyscallException;

/**
 * A run of a script: begin probes, attaching, events until the end, end probes, maps. What was
 * attached is detached when this is closed.
 */
public final class TraceSession implements AutoCloseable {
    private static final long WAIT_NANOS = 100_000_000;
    private static final long GATHER_NANOS = 1_000_000;
    private static final int ITERATOR_BYTES = 1 << 20;

    private final PreparedScript script;
    private final TraceOptions options;
    private final ScriptOutput output;
    private final ValueNames names;
    private final LoadedScript loaded;
    private final RingBuffer ring;
    private final ScriptEvents events;
    private final EventActions actions;
    private final UserCode code;
    private final List<Link> links = new ArrayList<>();
    private final Map<Long, Link> watches = new HashMap<>();
    private final List<Map.Entry<KernelIterator, IteratorProbe>> iterators = new ArrayList<>();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final AtomicInteger signals = new AtomicInteger();
    private final Set<Integer> full = new HashSet<>();
    private final @Nullable PacketFiles packets;
    private long lostBefore;

    private TraceSession(
            TraceOptions options,
            LoadedScript loaded,
            Rings rings,
            HostNames names,
            UserCode code,
            OutputMaker maker) {
        this.script = loaded.script();
        this.options = options;
        this.loaded = loaded;
        this.ring = rings.events();
        this.code = code;
        this.names = names;
        this.output = maker.make(names);
        this.actions =
                new EventActions(script, loaded, output, names, options.warnings(), this::unwatch);
        this.events = new ScriptEvents(rings.events(), rings.control(), actions::accept);
        PerfBuffer perCpu = rings.packets();
        this.packets = perCpu == null ? null : new PacketFiles(perCpu, script.unit().actions());
    }

    /** The last one only where the script writes packets. */
    private record Rings(RingBuffer events, RingBuffer control, @Nullable PerfBuffer packets) {}

    /** Makes what a run prints to. */
    @FunctionalInterface
    public interface OutputMaker {
        /** With what this machine calls the numbers of values. */
        ScriptOutput make(ValueNames names);
    }

    /**
     * Makes ready to run what was loaded, which is closed with the session.
     *
     * @throws IOException when it cannot be run; then it is closed, too
     */
    public static TraceSession open(LoadedScript loaded, TraceOptions options, OutputMaker maker)
            throws IOException {
        PreparedScript script = loaded.script();
        ScriptConfig configuration = script.configuration();
        UserCode code =
                new UserCode(
                        configuration.cppDemangle(),
                        configuration.showDebugInfo(),
                        options.places(),
                        loaded.stacks());
        try {
            if (UserAddresses.isPrinted(script.unit())) {
                code.follow();
                options.pid().ifPresent(code::read);
            }
            HostNames names =
                    new HostNames(
                            script.unit().actions(),
                            script.configuration().truncationTrailer(),
                            code);
            BpfMap control = loaded.map(ScriptUnit.CONTROL).map();
            RingBuffer ring = RingBuffer.open(loaded.map(ScriptUnit.RING).map(), control);
            Rings rings = new Rings(ring, RingBuffer.open(control), packets(loaded, configuration));
            TraceSession session = new TraceSession(options, loaded, rings, names, code, maker);
            if (!code.problem().isEmpty()) {
                session.output.warnf(
                        "symbols of processes that end are missing: " + code.problem(), List.of());
            }
            return session;
        } catch (IOException | RuntimeException e) {
            code.close();
            loaded.close();
            throw e;
        }
    }

    private static @Nullable PerfBuffer packets(LoadedScript loaded, ScriptConfig configuration)
            throws SyscallException {
        return loaded.hasPackets()
                ? PerfBuffer.open(
                        loaded.map(ScriptUnit.PACKETS).map(), (int) RingSize.perCpu(configuration))
                : null;
    }

    /** Where it prints. */
    public ScriptOutput output() {
        return output;
    }

    /** What this machine calls the numbers of values. */
    public ValueNames names() {
        return names;
    }

    /** Asks for the end; from any thread. */
    public void stop() {
        stopped.set(true);
    }

    /** Whether the script has probes for signals. */
    public boolean listensToSignals() {
        return loaded.programs().keySet().stream()
                .anyMatch(program -> program.group().first().kind() == Kind.SELF);
    }

    /** What the script asked to end with. */
    public int exitCode() {
        return actions.exitCode();
    }

    /** Whether the script asked for its end. */
    public boolean isExiting() {
        return actions.isExiting();
    }

    /**
     * Runs the begin probes.
     *
     * @param comm what the builtin comm says there
     */
    public void begin(String comm) throws IOException {
        if (packets != null) {
            packets.create();
        }
        try {
            Files.writeString(Path.of("/proc/thread-self/comm"), comm);
            // And what ps, pidof and pkill find.
            Files.writeString(Path.of("/proc/self/comm"), comm);
        } catch (IOException e) {
            // Then it says "java".
        }
        runAll(Kind.BEGIN);
    }

    private void runAll(Kind kind) throws IOException {
        for (Map.Entry<PreparedProgram, Program> entry : loaded.programs().entrySet()) {
            if (entry.getKey().group().first().kind() == kind) {
                ProbeAttacher.runOnce(entry.getValue());
            }
        }
    }

    /**
     * Attaches all probes but those that are run by hand.
     *
     * @return how many
     * @throws AttachException when one cannot be attached and must be
     */
    public int attach() throws AttachException {
        unwindingTables();
        AttachOptions where = new AttachOptions(options.pid());
        List<Map.Entry<PreparedProgram, Program>> all =
                new ArrayList<>(loaded.programs().entrySet());
        List<AttachException> leftOut = new ArrayList<>();
        int count = attachThose(all, false, where, leftOut);
        count += attachThose(all.reversed(), true, where, leftOut);
        if (script.configuration().missingProbes() != ScriptConfig.MissingProbes.IGNORE) {
            for (AttachException e : leftOut) {
                output.warnf(e.getMessage() + " (" + e.reason() + "), left out", List.of());
            }
        }
        return count;
    }

    /** The kernel runs those of some kinds in the order of attaching, of others in the reverse. */
    private int attachThose(
            List<Map.Entry<PreparedProgram, Program>> all,
            boolean reverse,
            AttachOptions where,
            List<AttachException> leftOut)
            throws AttachException {
        List<AttachException> refused = new ArrayList<>();
        boolean any = false;
        int count = 0;
        for (Map.Entry<PreparedProgram, Program> entry : all) {
            PreparedProgram program = entry.getKey();
            Probe first = program.group().first();
            if (isReverse(first.kind()) != reverse) {
                continue;
            }
            try {
                int before = refused.size();
                if (!first.kind().isSpecial()) {
                    refused.addAll(attach(program, entry.getValue(), where));
                }
                count += program.group().probes().size() - (refused.size() - before);
                any |= first instanceof UserProbe;
            } catch (AttachException e) {
                if (e.isOfPlace() && !program.isNamed(first)) {
                    refused.add(e);
                } else {
                    missing(e);
                }
            }
        }
        if (!any && !refused.isEmpty()) {
            missing(refused.getFirst());
        } else {
            leftOut.addAll(refused);
        }
        return count;
    }

    private static boolean isReverse(Kind kind) {
        return switch (kind) {
            case KPROBE, UPROBE, URETPROBE, USDT, FENTRY, FEXIT, ITER -> true;
            default -> false;
        };
    }

    private void missing(AttachException e) throws AttachException {
        ScriptConfig.MissingProbes policy = script.configuration().missingProbes();
        if (policy == ScriptConfig.MissingProbes.ERROR) {
            throw e;
        }
        if (policy == ScriptConfig.MissingProbes.WARN) {
            output.warnf(String.valueOf(e.getMessage()), List.of());
        }
    }

    /** The files of probed programs, of the process and of the command are unwound first. */
    private void unwindingTables() {
        options.pid().ifPresent(loaded.stacks()::process);
        loaded.programs().keySet().stream()
                .filter(program -> program.imported().containsValue(ScriptUnit.USER_STACK))
                .flatMap(program -> program.group().probes().stream())
                .flatMap(probe ->
                        switch (probe) {
                            case UserProbe u -> Stream.of(u.path());
                            case Probe.UsdtProbe u -> Stream.of(u.path());
                            default -> Stream.empty();
                        })
                .distinct()
                .forEach(path -> loaded.stacks().command(List.of(path)));
    }

    /** Makes the unwinding tables of a command before it starts. */
    public void unwind(List<String> command) {
        loaded.stacks().command(command);
    }

    /** Attaches; what of a pattern the kernel refuses. */
    private List<AttachException> attach(
            PreparedProgram program, Program loadedProgram, AttachOptions where)
            throws AttachException {
        if (program.group().first() instanceof IteratorProbe iter) {
            iterators.add(Map.entry(ProbeAttacher.iterator(iter, loadedProgram), iter));
            return List.of();
        }
        AttachedGroup attached =
                ProbeAttacher.attachMost(
                        program.group(), loadedProgram, where, probe -> !program.isNamed(probe));
        Link link = attached.link();
        if (program.group().first() instanceof WatchpointProbe w) {
            watches.put(w.address(), link);
        } else {
            links.add(link);
        }
        return attached.leftOut();
    }

    private void unwatch(long address) {
        Link link = watches.remove(address);
        if (link != null) {
            link.close();
        }
    }

    /**
     * Runs iterators that are not pinned, once; true when there are no other probes to wait for.
     */
    public boolean iterate() throws IOException {
        boolean any = false;
        for (Map.Entry<KernelIterator, IteratorProbe> entry : iterators) {
            if (entry.getValue().pin().isEmpty()) {
                any = true;
                while (entry.getKey().read(ITERATOR_BYTES).length > 0) {
                    drain();
                }
            }
        }
        drain();
        return any && links.isEmpty() && watches.isEmpty();
    }

    /** Whether anything can still happen. */
    public boolean hasProbes() {
        return !links.isEmpty() || !watches.isEmpty() || listensToSignals();
    }

    /**
     * Handles what comes within a tenth of a second; the output is to be flushed then.
     *
     * @return false when the script or {@link #stop} has ended it before
     */
    public boolean step() throws IOException {
        if (actions.isExiting() || stopped.get()) {
            return false;
        }
        ring.await(WAIT_NANOS, GATHER_NANOS);
        drain();
        for (int left = signals.getAndSet(0); left > 0; left--) {
            runAll(Kind.SELF);
        }
        return true;
    }

    /** Handles what has come; the output is to be flushed then. */
    public void drain() throws IOException {
        code.catchUp();
        try {
            events.drain();
        } catch (MalformedInputException e) {
            throw new IOException(e);
        }
        if (packets != null) {
            packets.drain();
        }
        ScriptLosses losses = loaded.losses();
        long lost = 0;
        for (PreparedProgram program : loaded.programs().keySet()) {
            for (LossReason reason : LossReason.values()) {
                if (reason.isEvent()) {
                    lost += losses.count(program.numbers(), reason);
                }
            }
        }
        if (lost > lostBefore) {
            output.lostEvents(lost - lostBefore);
            lostBefore = lost;
        }
        if (options.warnings()) {
            mapsFull(losses);
            for (String complaint : code.follower().complaints()) {
                output.warnf(complaint, List.of());
            }
        }
    }

    /** Tells of each program once that a map has no room. */
    private void mapsFull(ScriptLosses losses) throws IOException {
        for (PreparedProgram program : loaded.programs().keySet()) {
            if (losses.count(program.numbers(), LossReason.MAP_FULL) > 0
                    && full.add(program.number())) {
                output.mapFull();
            }
        }
    }

    /** Detaches, runs the end probes, prints maps and losses; the output is to be flushed then. */
    public void end() throws IOException {
        detach();
        drain();
        actions.end();
        runAll(Kind.END);
        drain();
        output.end();
        if (script.configuration().printMapsOnExit()) {
            for (MapRows rows : maps()) {
                output.mapAtEnd(rows);
            }
        }
        losses();
    }

    /** What the maps of the script hold now, by name. */
    public List<MapRows> maps() throws IOException {
        List<MapRows> maps = new ArrayList<>();
        for (String name : script.unit().maps().keySet().stream().sorted().toList()) {
            if (!WatchedFilter.isOwn(name)) {
                maps.add(actions.rows(name));
            }
        }
        return maps;
    }

    private void losses() throws IOException {
        for (String note : loaded.stackNotes()) {
            output.warnf(note, List.of());
        }
        for (String cut : code.follower().losses()) {
            output.warnf(cut, List.of());
        }
        if (packets != null && packets.lost() > 0) {
            output.lost("skboutput", "ring full", packets.lost());
        }
        for (String name : script.unit().maps().keySet()) {
            if (actions.lost(name) > 0) {
                output.lost(name, "map full", actions.lost(name));
            }
        }
        long mappings = code.lost();
        if (mappings > 0) {
            output.lost("what processes map", "ring full", mappings);
        }
        ScriptLosses losses = loaded.losses();
        for (PreparedProgram program : loaded.programs().keySet()) {
            for (LossReason reason : LossReason.values()) {
                long count = losses.count(program.numbers(), reason);
                if (count > 0) {
                    output.lost(name(program), reason.words(), count);
                }
            }
            Program one = loaded.programs().get(program);
            long missed = one == null ? 0 : one.facts().missed();
            if (missed > 0) {
                output.lost(name(program), "a program was running on the CPU", missed);
            }
        }
    }

    /** The probe, and how many more share its program. */
    private static String name(PreparedProgram program) {
        int more = program.group().probes().size() - 1;
        String first = program.group().first().name();
        return more == 0 ? first : first + " and " + more + " more";
    }

    private void detach() {
        Link.closeAll(links, this::detaching);
        links.clear();
        watches.values().forEach(Link::close);
        watches.clear();
        iterators.forEach(entry -> entry.getKey().close());
        iterators.clear();
    }

    /** Who ended the run waits for it without seeing anything. */
    private void detaching(int count) {
        output.warnf("detaching " + count + " probes takes the kernel some seconds\n", List.of());
        output.flush();
    }

    /** What runs tests and benches. */
    Map<PreparedProgram, Program> programs() {
        return loaded.programs();
    }

    /** What does what events ask for. */
    EventActions actions() {
        return actions;
    }

    /** Reads where files lie in a process, while it lives. */
    public void remember(int pid) {
        code.read(pid);
    }

    @Override
    public void close() {
        detach();
        code.close();
        if (packets != null) {
            packets.close();
        }
        ring.close();
        events.close();
        loaded.close();
    }
}
