package sonde.probe.perf;

import static sonde.format.perfdata.PerfEvent.PERF_TYPE_TRACEPOINT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import sonde.format.bundle.Meta;
import sonde.format.perfdata.AttrEntry;
import sonde.format.perfdata.PerfAttr;
import sonde.probe.plan.Plan;
import sonde.probe.plan.SampledEvent;
import sonde.probe.tracefs.Tracefs;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.Perf;
import sonde.sys.SyscallException;

/**
 * All perf events of a recording: per CPU one ring, fed by the dummy event, which owns it, and by
 * every other event of that CPU (PERF_EVENT_IOC_SET_OUTPUT). Opened switched off.
 */
public final class PerfRings implements AutoCloseable {
    // include/uapi/linux/perf_event.h, _IO('$', n) and relatives
    private static final int PERF_EVENT_IOC_ENABLE = 0x2400;
    private static final int PERF_EVENT_IOC_DISABLE = 0x2401;
    private static final int PERF_EVENT_IOC_SET_OUTPUT = 0x2405;
    private static final int PERF_EVENT_IOC_SET_FILTER = 0x40082406;
    private static final int PERF_EVENT_IOC_ID = 0x80082407;

    /** An own thread more or less in the filter costs a comparison per switch. */
    private static final int MAX_FILTERED = 40;

    private final Plan plan;
    private final PerfTarget target;
    private final List<Event> events = new ArrayList<>();
    private final List<PerfRing> rings = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final PerfRing.Tally tally = new PerfRing.Tally();
    private boolean closed;

    /** An event with its descriptors, as many as CPUs times bound tasks. */
    private static final class Event {
        final String name;
        final PerfAttr attr;
        final List<Integer> fds = new ArrayList<>();
        final List<Integer> cpus = new ArrayList<>();
        final List<Long> ids = new ArrayList<>();

        Event(String name, PerfAttr attr) {
            this.name = name;
            this.attr = attr;
        }
    }

    private PerfRings(Plan plan, PerfTarget target) {
        this.plan = plan;
        this.target = target;
    }

    /**
     * Opens the plan's events.
     *
     * @param auxiliary whether a bpf-output event per CPU is wanted
     * @throws SyscallException when the dummy event or its ring is refused; another event that is
     *     refused becomes a {@link #notes note}
     */
    public static PerfRings open(
            Plan plan, List<Integer> cpus, PerfTarget target, boolean auxiliary, Tracefs tracefs)
            throws SyscallException {
        PerfRings rings = new PerfRings(plan, target);
        try {
            rings.openAll(cpus, auxiliary, tracefs);
        } catch (SyscallException e) {
            rings.close();
            throw e;
        }
        return rings;
    }

    private void openAll(List<Integer> cpus, boolean auxiliary, Tracefs tracefs)
            throws SyscallException {
        PerfAttrs attrs = new PerfAttrs(plan, target.isSystemWide());
        for (SampledEvent sampled : plan.sampled()) {
            try {
                int id = sampled.config() >= 0 ? -1 : tracefs.eventId(sampled.name());
                Event event = new Event(sampled.name(), attrs.of(sampled, id));
                openEvent(event, cpus);
                events.add(event);
            } catch (SyscallException e) {
                if (rings.isEmpty()) {
                    throw e;
                }
                notes.add("no event " + sampled.name() + ": " + e.getMessage());
            }
        }
        if (auxiliary) {
            Event output = new Event("bpf-output", attrs.bpfOutput());
            openEvent(output, cpus);
            events.add(output);
        }
        filterOwnSwitches();
        filterOwnSamples();
    }

    private void filterOwnSamples() {
        if (!target.isSystemWide() || target.ownTids().isEmpty()) {
            return;
        }
        try (OwnSampleFilter filter = OwnSampleFilter.load()) {
            for (Event event : events) {
                boolean sampling =
                        event.attr.type() != PERF_TYPE_TRACEPOINT
                                && !event.name.equals("dummy")
                                && !event.name.equals("bpf-output");
                if (sampling) {
                    for (int fd : event.fds) {
                        filter.attach(fd);
                    }
                }
            }
        } catch (SyscallException e) {
            notes.add("samples of the recorder are among the events: " + e.getMessage());
        }
    }

    private void openEvent(Event event, List<Integer> cpus) throws SyscallException {
        boolean first = rings.isEmpty();
        List<Integer> pids = target.isSystemWide() ? List.of(-1) : target.tids();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocateFrom(ValueLayout.JAVA_BYTE, event.attr.encode());
            for (int i = 0; i < cpus.size(); i++) {
                int cpu = cpus.get(i);
                for (int pid : pids) {
                    int fd = Perf.open(attr, pid, cpu, -1, 0, event.name);
                    event.fds.add(fd);
                    event.cpus.add(cpu);
                    event.ids.add(id(fd));
                    if (first && rings.size() == i) {
                        rings.add(PerfRing.map(cpu, fd, plan.rings().perfBytes()));
                    } else {
                        Fd.ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rings.get(i).fd());
                    }
                }
            }
        } catch (SyscallException e) {
            event.fds.forEach(Fd::discard);
            if (first) {
                rings.forEach(PerfRing::close);
                rings.clear();
            }
            throw e;
        }
    }

    private static long id(int fd) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment id = arena.allocate(ValueLayout.JAVA_LONG);
            Fd.ioctl(fd, PERF_EVENT_IOC_ID, id);
            return id.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** Switches between threads of ours and idle tell about the recorder only. */
    private void filterOwnSwitches() {
        if (!target.isSystemWide() || target.ownTids().isEmpty()) {
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
        for (Event event : events) {
            if (event.name.equals("sched:sched_switch")) {
                setFilter(event, previous + "||" + next);
            }
        }
    }

    private void setFilter(Event event, String filter) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(filter);
            for (int fd : event.fds) {
                Fd.ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text);
            }
        } catch (SyscallException e) {
            notes.add(
                    "switches of the recorder are among the events: filter refused, "
                            + Errno.describe(e.errno()));
        }
    }

    /** The events as perf.data names them; the first is the dummy. */
    public List<AttrEntry> entries() {
        List<AttrEntry> entries = new ArrayList<>();
        for (Event event : events) {
            long[] ids = event.ids.stream().mapToLong(Long::longValue).toArray();
            entries.add(new AttrEntry(event.attr, ids, event.name));
        }
        return entries;
    }

    /** Descriptor of the bpf-output event of each CPU; empty without one. */
    public Map<Integer, Integer> outputs() {
        Map<Integer, Integer> outputs = new LinkedHashMap<>();
        for (Event event : events) {
            if (event.name.equals("bpf-output")) {
                for (int i = 0; i < event.fds.size(); i++) {
                    outputs.put(event.cpus.get(i), event.fds.get(i));
                }
            }
        }
        return outputs;
    }

    /** Descriptors to poll, one per CPU. */
    public List<Integer> pollable() {
        return rings.stream().map(PerfRing::fd).toList();
    }

    /** What was refused, one sentence each. */
    public List<String> notes() {
        return List.copyOf(notes);
    }

    /** Names of threads that records told so far. */
    public Comms comms() {
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

    /** Bytes handed out so far. */
    public long bytes() {
        return tally.bytes;
    }

    /** Lost as far as LOST records told so far. */
    public long lostSoFar() {
        return tally.lost;
    }

    /** Switches all events on, the dummy first, so that no sample comes without its mapping. */
    public void enable() throws SyscallException {
        for (Event event : events) {
            for (int fd : event.fds) {
                Fd.ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
            }
        }
    }

    /** Switches all events off, the dummy last; what is in the rings stays. */
    public void disable() throws SyscallException {
        for (Event event : events.reversed()) {
            for (int fd : event.fds) {
                Fd.ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
            }
        }
    }

    /**
     * Drains every ring once.
     *
     * @param sink takes whole records; the segments are the ring itself, valid during the call
     * @return whether any ring held something
     */
    public boolean drain(Sink sink) throws IOException {
        boolean any = false;
        for (PerfRing ring : rings) {
            any |= ring.drain(sink::append, tally);
        }
        return any;
    }

    /** Takes the bytes of a ring: the second part is empty unless they wrap around its end. */
    public interface Sink {
        /** Keeps the bytes of both parts, in this order. */
        void append(MemorySegment first, MemorySegment second) throws IOException;
    }

    /**
     * What was lost: exact per event and CPU by PERF_FORMAT_LOST, else what LOST records told and a
     * row that says "some" for the time after the last of them.
     */
    public List<Meta.Loss> losses() throws SyscallException {
        List<Meta.Loss> losses = new ArrayList<>();
        if (plan.exactLosses()) {
            for (Event event : events) {
                exactLosses(event, losses);
            }
        } else if (tally.lost > 0) {
            losses.add(loss("", -1, Meta.LossKind.RING_FULL, tally.lost));
            losses.add(loss("tail", -1, Meta.LossKind.RING_FULL, -1));
        }
        if (tally.throttled > 0) {
            losses.add(loss("", -1, Meta.LossKind.THROTTLED, tally.throttled));
        }
        return losses;
    }

    /** read(2) gives, for this read_format: u64 value, u64 id, u64 lost. */
    private static void exactLosses(Event event, List<Meta.Loss> losses) throws SyscallException {
        Map<Integer, Long> byCpu = new LinkedHashMap<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(24, 8);
            for (int i = 0; i < event.fds.size(); i++) {
                if (Fd.read(event.fds.get(i), values) == values.byteSize()) {
                    long lost = values.get(ValueLayout.JAVA_LONG, 16);
                    byCpu.merge(event.cpus.get(i), lost, Long::sum);
                }
            }
        }
        byCpu.forEach((cpu, lost) -> {
            if (lost > 0) {
                losses.add(loss(event.name, cpu, Meta.LossKind.RING_FULL, lost));
            }
        });
    }

    private static Meta.Loss loss(String subject, int cpu, Meta.LossKind kind, long count) {
        return new Meta.Loss("perf.data", subject, cpu, kind, count);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        rings.forEach(PerfRing::close);
        events.forEach(event -> event.fds.forEach(Fd::discard));
    }
}
