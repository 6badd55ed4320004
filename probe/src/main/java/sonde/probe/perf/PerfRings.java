package sonde.probe.perf;

import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_CALLCHAIN_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_TRACEPOINT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import sonde.probe.perf.FlightRing.KeptRecords;
import sonde.probe.perf.OpenEvent.CounterReading;
import sonde.probe.plan.CallGraph;
import sonde.probe.plan.RecordPlan;
import sonde.probe.plan.SampledEvent;
import sonde.probe.stack.MappingLog;
import sonde.probe.stack.StackPrograms;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.PerfAttr;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

/**
 * All perf events of a recording: per CPU one ring, fed by the dummy event, which owns it, and by
 * every other event of that CPU (PERF_EVENT_IOC_SET_OUTPUT). Opened switched off.
 *
 * <p>A flight recorder has two rings per CPU: what names things (mappings, names and life of
 * processes, names of files) goes to the dummy's, which is drained all the time; samples and
 * switches go to one that keeps the newest and is read at the end.
 */
public final class PerfRings implements AutoCloseable {
    private static final int PERF_EVENT_IOC_SET_OUTPUT = 0x2405;

    private static final String SWITCH = "sched:sched_switch";
    private static final String BPF_OUTPUT = "bpf-output";

    /** An own thread more or less in the filter costs a comparison per switch. */
    private static final int MAX_FILTERED = 40;

    /** Records whose stacks wait for tables, of all rings together. */
    private static final long MOST_HELD_BYTES = 128 << 20;

    private final RecordPlan plan;
    private final CountedTasks target;
    private final @Nullable StackPrograms unwound;
    private final List<OpenEvent> events = new ArrayList<>();
    private final List<PerfRing> rings = new ArrayList<>();
    private final List<FlightRing> flightRings = new ArrayList<>();
    private final Map<Long, Long> kept = new HashMap<>();
    private final List<Integer> cpus;
    private final Set<Integer> wrapped = new HashSet<>();
    private final List<String> notes = new ArrayList<>();
    private final PerfRing.Tally tally = new PerfRing.Tally();
    private SampleOwners owners = SampleOwners.of(List.of());
    private @Nullable CopiedStacks stacks;
    private boolean isOff;
    private long heldSince;
    private long mostHeldNanos = 10_000_000_000L;
    private boolean closed;

    private PerfRings(
            RecordPlan plan,
            CountedTasks target,
            List<Integer> cpus,
            @Nullable StackPrograms unwound) {
        this.plan = plan;
        this.unwound = unwound;
        this.target = target;
        this.cpus = List.copyOf(cpus);
        if (unwound != null) {
            tally.files.opened(unwound::path);
        }
    }

    /**
     * Opens the plan's events.
     *
     * @param auxiliary whether a bpf-output event per CPU is wanted
     * @param unwound programs that unwind user stacks, null without them; stay the caller's
     * @throws SyscallException when the dummy event or its ring is refused; another event that is
     *     refused becomes a {@link #notes note}
     */
    public static PerfRings open(
            RecordPlan plan,
            List<Integer> cpus,
            CountedTasks target,
            boolean auxiliary,
            @Nullable StackPrograms unwound,
            Tracefs tracefs)
            throws SyscallException {
        PerfRings rings = new PerfRings(plan, target, cpus, unwound);
        try {
            rings.openAll(auxiliary, tracefs);
        } catch (SyscallException e) {
            rings.close();
            throw e;
        }
        return rings;
    }

    private void openAll(boolean auxiliary, Tracefs tracefs) throws SyscallException {
        AttrFactory attrs = new AttrFactory(plan, target.isSystemWide(), unwound);
        for (SampledEvent sampled : plan.sampled()) {
            try {
                int id = sampled.config() >= 0 ? -1 : tracefs.eventId(sampled.name());
                openEvent(sampled.name(), attrs.of(sampled, id));
                filter(sampled.name());
            } catch (SyscallException e) {
                if (rings.isEmpty()) {
                    throw e;
                }
                notes.add("no event " + sampled.name() + ": " + e.getMessage());
            }
        }
        Optional<PerfAttr> switches = attrs.flightSwitches();
        if (switches.isPresent()) {
            openEvent(AttrFactory.DUMMY, switches.get());
        }
        if (auxiliary || unwound != null) {
            openEvent(BPF_OUTPUT, attrs.bpfOutput());
        }
        filterOwnSwitches();
        filterOwnSamples();
        owners = SampleOwners.of(events);
        if (plan.spec().callGraph().kind() == CallGraph.Kind.DWARF) {
            stacks = new CopiedStacks(target.roots(), entries());
        }
        if (unwound != null) {
            mergeStacks(unwound);
        }
    }

    private void mergeStacks(StackPrograms programs) {
        Set<Long> outputs = new HashSet<>();
        Map<Long, Integer> numbers = new HashMap<>();
        Set<Integer> tracepoints = new HashSet<>();
        for (OpenEvent event : events) {
            if (programs.comesBehind(number(event))) {
                tracepoints.add(number(event));
            }
            for (long id : event.entry().ids()) {
                if (event.name().equals(BPF_OUTPUT)) {
                    outputs.add(id);
                } else if (event.attr().has(FLAG_EXCLUDE_CALLCHAIN_USER)) {
                    numbers.put(id, number(event));
                }
            }
        }
        rings.forEach(
                ring -> ring.merge(new UserStackMerge(programs, outputs, numbers, tracepoints)));
    }

    /** Place in the plan, by which programs that unwind stacks name it. */
    private int number(OpenEvent event) {
        for (int i = 0; i < plan.sampled().size(); i++) {
            if (plan.sampled().get(i).name().equals(event.name())) {
                return i;
            }
        }
        return -1;
    }

    /** Attaches the programs that unwind stacks; before {@link #enable}. */
    public void attachStacks() throws IOException {
        if (unwound == null) {
            return;
        }
        Map<Integer, Map<Integer, List<Integer>>> fds = new HashMap<>();
        for (OpenEvent event : events) {
            if (event.attr().has(FLAG_EXCLUDE_CALLCHAIN_USER)) {
                fds.put(number(event), event.fdsByCpu());
            }
        }
        unwound.attach(outputs(), fds);
    }

    private void filter(String name) throws SyscallException {
        String condition = plan.extras().filter(name);
        boolean joined = name.equals(SWITCH) && leavesOwnOut(); // an event takes one filter only
        if (!condition.isEmpty() && !joined) {
            try {
                events.getLast().filter(condition);
            } catch (SyscallException e) {
                events.removeLast().close();
                throw e;
            }
        }
    }

    /** The life of processes and names come from all CPUs, everything else from those asked for. */
    private void openEvent(String name, PerfAttr attr) throws SyscallException {
        OpenEvent event = new OpenEvent(name, attr);
        boolean owner = event.isFlight() ? flightRings.isEmpty() : rings.isEmpty();
        boolean everywhere = owner && !event.isFlight() || name.equals(BPF_OUTPUT);
        List<Integer> chosen = plan.spec().limits().cpus();
        List<Integer> pids = target.isSystemWide() ? List.of(-1) : target.tids();
        try {
            for (int cpu : cpus) {
                if (!everywhere && !chosen.isEmpty() && !chosen.contains(cpu)) {
                    continue;
                }
                for (int pid : pids) {
                    int fd = event.open(cpu, pid);
                    Integer ring = event.isFlight() ? flightFd(cpu) : ringFd(cpu);
                    if (ring == null) {
                        map(event, cpu, fd);
                    } else {
                        Fd.ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring);
                    }
                }
            }
        } catch (SyscallException e) {
            event.close();
            if (owner && event.isFlight()) {
                flightRings.forEach(FlightRing::close);
                flightRings.clear();
            } else if (owner) {
                rings.forEach(PerfRing::close);
                rings.clear();
            }
            throw e;
        }
        events.add(event);
    }

    private void map(OpenEvent event, int cpu, int fd) throws SyscallException {
        if (event.isFlight()) {
            flightRings.add(FlightRing.map(cpu, fd, plan.rings().perfBytes()));
        } else {
            long life = plan.rings().lifeBytes();
            rings.add(PerfRing.map(cpu, fd, life > 0 ? life : plan.rings().perfBytes()));
        }
    }

    private @Nullable Integer ringFd(int cpu) {
        return rings.stream()
                .filter(one -> one.cpu() == cpu)
                .map(PerfRing::fd)
                .findFirst()
                .orElse(null);
    }

    private @Nullable Integer flightFd(int cpu) {
        return flightRings.stream()
                .filter(one -> one.cpu() == cpu)
                .map(FlightRing::fd)
                .findFirst()
                .orElse(null);
    }

    private boolean leavesOwnOut() {
        return target.isSystemWide() && !target.ownTids().isEmpty();
    }

    private void filterOwnSamples() {
        if (!leavesOwnOut()) {
            return;
        }
        try (OwnSampleFilter filter = OwnSampleFilter.load()) {
            for (OpenEvent event : events) {
                boolean sampling =
                        event.attr().type() != PERF_TYPE_TRACEPOINT
                                && !event.name().equals(AttrFactory.DUMMY)
                                && !event.name().equals(BPF_OUTPUT)
                                && !(unwound != null
                                        && event.attr().has(FLAG_EXCLUDE_CALLCHAIN_USER));
                if (sampling) {
                    for (int fd : event.fds()) {
                        filter.attach(fd);
                    }
                }
            }
        } catch (SyscallException e) {
            notes.add("samples of the recorder are among the events: " + e.getMessage());
        }
    }

    /** Switches between threads of ours and idle tell about the recorder only. */
    private void filterOwnSwitches() {
        if (!leavesOwnOut()) {
            return;
        }
        StringJoiner previous = new StringJoiner("&&", "(", ")");
        StringJoiner next = new StringJoiner("&&", "(", ")");
        previous.add("prev_pid!=0");
        next.add("next_pid!=0");
        for (int tid : target.ownTids().stream().limit(MAX_FILTERED).toList()) {
            previous.add("prev_pid!=" + tid);
            next.add("next_pid!=" + tid);
        }
        try {
            for (OpenEvent event : events) {
                if (event.name().equals(SWITCH)) {
                    String asked = plan.extras().filter(SWITCH);
                    event.filter(
                            "("
                                    + previous
                                    + "||"
                                    + next
                                    + ")"
                                    + (asked.isEmpty() ? "" : "&&(" + asked + ")"));
                }
            }
        } catch (SyscallException e) {
            notes.add(
                    "switches of the recorder are among the events: filter refused, "
                            + Errno.describe(e.errno()));
        }
    }

    /** The events as perf.data names them; the first is the dummy. */
    public List<AttrEntry> entries() {
        return events.stream().map(OpenEvent::entry).toList();
    }

    /** Descriptor of the bpf-output event of each CPU; empty without one. */
    public Map<Integer, Integer> outputs() {
        return events.stream()
                .filter(event -> event.name().equals(BPF_OUTPUT))
                .findFirst()
                .map(OpenEvent::fdByCpu)
                .orElse(Map.of());
    }

    /** Descriptors to poll, one per CPU. */
    public List<Integer> pollable() {
        return rings.stream().map(PerfRing::fd).toList();
    }

    /** What was refused or mended, one sentence each. */
    public List<String> notes() {
        List<String> all = new ArrayList<>(notes);
        if (owners.mended() > 0) {
            all.add(
                    "This kernel marked page faults as another recorder's; sonde corrected them ("
                            + owners.mended()
                            + ").");
        }
        return all;
    }

    /** Names of threads that records told so far. */
    public LatestComms comms() {
        return tally.comms;
    }

    /** Files that records told were mapped. */
    public MappedFiles files() {
        return tally.files;
    }

    /** Records handed out so far. */
    public long records() {
        return tally.records;
    }

    /** Lost as far as LOST records told so far. */
    public long lostSoFar() {
        return tally.lost;
    }

    /** The events on tracepoints: closing the last one of a tracepoint takes long. */
    public List<Integer> tracepointFds() {
        return events.stream()
                .filter(event -> event.attr().type() == PERF_TYPE_TRACEPOINT)
                .flatMap(event -> event.fds().stream())
                .toList();
    }

    /** Keeps copies of the stacks of another process; by any thread. */
    public void follow(int pid) {
        CopiedStacks copied = stacks;
        if (copied != null) {
            copied.follow(pid);
        }
    }

    /**
     * Switches on what tells the life of processes, so that no sample comes without its mapping.
     */
    public void enableLife() throws SyscallException {
        events.getFirst().enable();
    }

    /** Switches on the events that are recorded, after {@link #enableLife}. */
    public void enable() throws SyscallException {
        for (OpenEvent event : events.subList(1, events.size())) {
            event.enable();
        }
    }

    /** Switches all events off, the dummy last; what is in the rings stays. */
    public void disable() throws SyscallException {
        isOff = true;
        for (OpenEvent event : events.reversed()) {
            event.disable();
        }
    }

    /**
     * Drains every ring once.
     *
     * @param sink takes whole records; the segments are the ring itself, valid during the call
     * @return whether any record was handed out
     */
    public boolean drain(Sink sink) throws IOException {
        boolean any = false;
        long[] heads = rings.stream().mapToLong(PerfRing::head).toArray();
        boolean held = unwound != null && isHeld(unwound);
        if (unwound != null) {
            MappingLog log = unwound.mappings();
            rings.forEach(ring -> ring.mappings(log));
        }
        CopiedStacks foreign = stacks;
        if (foreign != null) {
            // Whatever forked before a sample up to these heads is in a ring by now.
            rings.forEach(ring -> ring.forks(foreign));
        }
        for (int i = 0; i < heads.length; i++) {
            rings.get(i).hold(held);
            any |= rings.get(i).drain(heads[i], sink::append, tally, owners, foreign);
        }
        if (unwound != null) {
            unwound.drained();
        }
        return any && !held;
    }

    /** Records are held at most so long for a table; 10 s unless this says otherwise. */
    public void holdAtMost(long nanos) {
        mostHeldNanos = nanos;
    }

    /** Whether records stay in memory of this process while a table is made for their stacks. */
    private boolean isHeld(StackPrograms programs) {
        if (isOff || !programs.isMaking()) {
            heldSince = 0;
            return false;
        }
        long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        heldSince = heldSince == 0 ? now : heldSince;
        long most = MOST_HELD_BYTES / rings.size();
        return now - heldSince < mostHeldNanos
                && rings.stream().allMatch(ring -> ring.heldBytes() < most);
    }

    /** Takes the bytes of a ring: the second part is empty unless they wrap around its end. */
    public interface Sink {
        /** Keeps the bytes of both parts, in this order. */
        void append(MemorySegment first, MemorySegment second) throws IOException;
    }

    /** Whether there are rings that keep the newest; then {@link #takeFlight} is to be called. */
    public boolean isFlight() {
        return !flightRings.isEmpty();
    }

    /**
     * Hands out what the rings kept that were overwritten meanwhile, oldest first in each; once,
     * after {@link #disable} and the last {@link #drain}. These records are older than some that
     * were drained before.
     *
     * @return from when on nothing is missing, CLOCK_MONOTONIC; 0 when nothing was overwritten
     */
    public long takeFlight(Sink sink) throws IOException {
        long wholeSince = 0;
        for (int i = 0; i < flightRings.size(); i++) {
            try (Arena arena = Arena.ofConfined()) {
                KeptRecords there = flightRings.get(i).take(arena, kept, owners, stacks);
                if (there.wrapped()) {
                    wrapped.add(flightRings.get(i).cpu());
                    wholeSince = Math.max(wholeSince, there.oldestNanos());
                }
                sink.append(there.records(), MemorySegment.NULL);
            }
        }
        return wholeSince;
    }

    /**
     * What was lost: exact per event and CPU by PERF_FORMAT_LOST, else what LOST records told and a
     * row that says "some" for the time after the last of them. What a flight recorder overwrote is
     * exact for events that are taken at every hit, "some" for others.
     */
    public List<RecordedLoss> losses() throws SyscallException {
        List<RecordedLoss> losses = new ArrayList<>();
        for (OpenEvent event : events) {
            for (Map.Entry<Integer, CounterReading> one : event.accounts(kept).entrySet()) {
                CounterReading account = one.getValue();
                if (plan.exactLosses() && account.lost() > 0) {
                    losses.add(
                            loss(
                                    event.name(),
                                    one.getKey(),
                                    RecordingMeta.LossKind.RING_FULL,
                                    account.lost()));
                }
                if (event.isFlight() && wrapped.contains(one.getKey())) {
                    overwritten(event, one.getKey(), account, losses);
                }
            }
        }
        if (!plan.exactLosses() && tally.lost > 0) {
            losses.add(loss("", -1, RecordingMeta.LossKind.RING_FULL, tally.lost));
            losses.add(loss("tail", -1, RecordingMeta.LossKind.RING_FULL, -1));
        }
        if (tally.throttled > 0) {
            losses.add(loss("", -1, RecordingMeta.LossKind.THROTTLED, tally.throttled));
        }
        return losses;
    }

    private static void overwritten(
            OpenEvent event, int cpu, CounterReading account, List<RecordedLoss> losses) {
        boolean exact = event.isEveryHit() && !event.name().equals(AttrFactory.DUMMY);
        long count = exact ? account.value() - account.lost() - account.kept() : -1;
        if (count != 0) {
            losses.add(
                    loss(
                            event.name(),
                            cpu,
                            RecordingMeta.LossKind.OVERWRITTEN,
                            Math.max(count, -1)));
        }
    }

    private static RecordedLoss loss(
            String subject, int cpu, RecordingMeta.LossKind kind, long count) {
        return new RecordedLoss("perf.data", subject, cpu, kind, count);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        rings.forEach(PerfRing::close);
        flightRings.forEach(FlightRing::close);
        events.forEach(OpenEvent::close);
    }
}
