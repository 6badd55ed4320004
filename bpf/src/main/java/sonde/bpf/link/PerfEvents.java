package sonde.bpf.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.sys.MachineFacts;

/**
 * Attaches {@link sonde.bpf.ProgramType#PERF_EVENT} programs to counters that overflow: clocks,
 * page faults, hardware events.
 *
 * <p>Ladder: a link with a cookie (Linux 5.15) → PERF_EVENT_IOC_SET_BPF (4.9), without one.
 */
public final class PerfEvents {
    private static final int ATTR_SIZE = 136;
    private static final long INHERIT = 1L << 1;
    private static final long FREQUENCY = 1L << 10;

    /** PERF_TYPE_SOFTWARE. */
    public static final int SOFTWARE = 1;

    /** PERF_TYPE_HARDWARE; config 0 counts cycles. */
    public static final int HARDWARE = 0;

    /** PERF_COUNT_SW_CPU_CLOCK. */
    public static final int CPU_CLOCK = 0;

    /** PERF_COUNT_SW_PAGE_FAULTS. */
    public static final int PAGE_FAULTS = 2;

    private PerfEvents() {}

    /**
     * What to count.
     *
     * @param type PERF_TYPE_*
     * @param config of that type
     * @param every events from one run to the next, or runs a second
     * @param isFrequency which of both
     */
    public record CountedEvent(int type, long config, long every, boolean isFrequency) {
        /** The clock of each CPU, so many times a second. */
        public static CountedEvent clock(long hertz) {
            return new CountedEvent(SOFTWARE, CPU_CLOCK, hertz, true);
        }
    }

    /** On every CPU, whatever runs there; one attachment, closed as one. */
    public static Link everywhere(Program program, CountedEvent event, long cookie)
            throws IOException {
        List<Integer> cpus = MachineFacts.onlineCpus().stream().boxed().toList();
        return Link.ofEach(event.toString(), cpus, cpu -> attach(program, event, -1, cpu, cookie));
    }

    /** For threads, on whatever CPU, and those that they will make. */
    public static Link ofThreads(
            Program program, CountedEvent event, List<Integer> tids, long cookie)
            throws IOException {
        return Link.ofEach(
                event.toString(), tids, tid -> attach(program, event, tid, -1, INHERIT, cookie));
    }

    /**
     * For a process, a CPU, or both.
     *
     * @param pid -1 for all, together with a CPU
     * @param cpu -1 for all, together with a pid
     * @throws sonde.sys.SyscallException ENOENT where there is no such counter
     */
    public static Link attach(Program program, CountedEvent event, int pid, int cpu, long cookie)
            throws IOException {
        return attach(program, event, pid, cpu, 0, cookie);
    }

    private static Link attach(
            Program program, CountedEvent event, int pid, int cpu, long flags, long cookie)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(ATTR_SIZE, 8);
            attr.set(JAVA_INT, 0, event.type());
            attr.set(JAVA_INT, 4, ATTR_SIZE);
            attr.set(JAVA_LONG, 8, event.config());
            attr.set(JAVA_LONG, 16, event.every());
            attr.set(JAVA_LONG, 40, flags | (event.isFrequency() ? FREQUENCY : 0));
            return Link.perfEvent(program, event.toString(), attr, pid, cpu, cookie, () -> {});
        }
    }
}
