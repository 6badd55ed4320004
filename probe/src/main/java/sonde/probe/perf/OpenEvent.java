package sonde.probe.perf;

import static sonde.recording.perfdata.PerfAbi.FLAG_FREQ;
import static sonde.recording.perfdata.PerfAbi.FLAG_WRITE_BACKWARD;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.PerfAttr;
import sonde.sys.Fd;
import sonde.sys.PerfEventOpen;
import sonde.sys.SyscallException;

/** An event with its descriptors, as many as CPUs times bound tasks. */
final class OpenEvent implements AutoCloseable {
    // include/uapi/linux/perf_event.h, _IO('$', n) and relatives
    private static final int PERF_EVENT_IOC_ENABLE = 0x2400;
    private static final int PERF_EVENT_IOC_DISABLE = 0x2401;
    private static final int PERF_EVENT_IOC_SET_FILTER = 0x40082406;
    private static final int PERF_EVENT_IOC_ID = 0x80082407;

    private final String name;
    private final PerfAttr attr;
    private final List<Integer> fds = new ArrayList<>();
    private final List<Integer> cpus = new ArrayList<>();
    private final List<Long> ids = new ArrayList<>();

    OpenEvent(String name, PerfAttr attr) {
        this.name = name;
        this.attr = attr;
    }

    String name() {
        return name;
    }

    PerfAttr attr() {
        return attr;
    }

    /** Whether its records go to the ring that keeps the newest. */
    boolean isFlight() {
        return attr.has(FLAG_WRITE_BACKWARD);
    }

    /** Whether each hit makes a record. */
    boolean isEveryHit() {
        return !attr.has(FLAG_FREQ) && attr.samplePeriod() == 1;
    }

    /** Opens it for a CPU and a task, -1 for all of them; returns the descriptor. */
    int open(int cpu, int pid) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, attr.encode());
            int fd = PerfEventOpen.open(bytes, pid, cpu, -1, 0, name);
            fds.add(fd);
            cpus.add(cpu);
            MemorySegment id = arena.allocate(ValueLayout.JAVA_LONG);
            Fd.ioctl(fd, PERF_EVENT_IOC_ID, id);
            ids.add(id.get(ValueLayout.JAVA_LONG, 0));
            return fd;
        }
    }

    List<Integer> fds() {
        return fds;
    }

    /** As a perf.data lists it. */
    AttrEntry entry() {
        return new AttrEntry(attr, ids.stream().mapToLong(Long::longValue).toArray(), name);
    }

    /** A descriptor of each CPU. */
    Map<Integer, Integer> fdByCpu() {
        Map<Integer, Integer> byCpu = new LinkedHashMap<>();
        for (int i = 0; i < fds.size(); i++) {
            byCpu.putIfAbsent(cpus.get(i), fds.get(i));
        }
        return byCpu;
    }

    /** The descriptors of each CPU. */
    Map<Integer, List<Integer>> fdsByCpu() {
        Map<Integer, List<Integer>> byCpu = new LinkedHashMap<>();
        for (int i = 0; i < fds.size(); i++) {
            byCpu.computeIfAbsent(cpus.get(i), _ -> new ArrayList<>()).add(fds.get(i));
        }
        return byCpu;
    }

    /** An identifier of each CPU. */
    Map<Integer, Long> idByCpu() {
        Map<Integer, Long> byCpu = new LinkedHashMap<>();
        for (int i = 0; i < ids.size(); i++) {
            byCpu.putIfAbsent(cpus.get(i), ids.get(i));
        }
        return byCpu;
    }

    void enable() throws SyscallException {
        for (int fd : fds) {
            Fd.ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        }
    }

    void disable() throws SyscallException {
        for (int fd : fds) {
            Fd.ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        }
    }

    /** Takes only what fits an expression over the tracepoint's fields. */
    void filter(String expression) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(expression);
            for (int fd : fds) {
                Fd.ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text);
            }
        }
    }

    /** An account of the kernel: its value (hits, or nanoseconds) and records lost. */
    record CounterReading(long value, long lost, long kept) {
        private CounterReading plus(CounterReading other) {
            return new CounterReading(value + other.value, lost + other.lost, kept + other.kept);
        }
    }

    /**
     * Accounts by CPU.
     *
     * @param kept records that are still there, by id
     */
    Map<Integer, CounterReading> accounts(Map<Long, Long> kept) throws SyscallException {
        Map<Integer, CounterReading> byCpu = new LinkedHashMap<>();
        try (Arena arena = Arena.ofConfined()) {
            // For our read_format: u64 value, u64 id and, with PERF_FORMAT_LOST, u64 lost.
            MemorySegment words = arena.allocate(24, 8);
            for (int i = 0; i < fds.size(); i++) {
                words.fill((byte) 0);
                if (Fd.read(fds.get(i), words) >= 16) {
                    CounterReading account =
                            new CounterReading(
                                    words.get(ValueLayout.JAVA_LONG, 0),
                                    words.get(ValueLayout.JAVA_LONG, 16),
                                    kept.getOrDefault(ids.get(i), 0L));
                    byCpu.merge(cpus.get(i), account, CounterReading::plus);
                }
            }
        }
        return byCpu;
    }

    @Override
    public void close() {
        fds.forEach(Fd::discard);
        fds.clear();
    }
}
