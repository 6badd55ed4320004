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
 * Attaches {@link sonde.bpf.ProgramType#PERF_EVENT} programs to the debug registers of the CPUs:
 * they run when memory is read, written or executed. x86 has four registers, which debuggers use
 * too.
 */
public final class Breakpoints {
    private static final int ATTR_SIZE = 136;

    /** PERF_TYPE_BREAKPOINT. */
    private static final int TYPE = 5;

    private static final long INHERIT = 1L << 1;

    /** HW_BREAKPOINT_R. */
    public static final int READ = 1;

    /** HW_BREAKPOINT_W. */
    public static final int WRITE = 2;

    /** HW_BREAKPOINT_X; x86 takes it alone, with a length of 8. */
    public static final int EXECUTE = 4;

    private Breakpoints() {}

    /**
     * What to watch.
     *
     * @param length 1, 2, 4 or 8 bytes
     * @param access bits of {@link #READ}, {@link #WRITE}, {@link #EXECUTE}
     */
    public record WatchedMemory(long address, int length, int access) {
        @Override
        public String toString() {
            return "breakpoint at 0x" + Long.toHexString(address);
        }
    }

    /**
     * On every CPU, whatever runs there; one attachment, closed as one.
     *
     * @throws sonde.sys.SyscallException ENOSPC when all registers are taken, EINVAL for what the
     *     CPU cannot watch
     */
    public static Link everywhere(Program program, WatchedMemory place, long cookie)
            throws IOException {
        List<Integer> cpus = MachineFacts.onlineCpus().stream().boxed().toList();
        return Link.ofEach(place.toString(), cpus, cpu -> attach(program, place, -1, cpu, cookie));
    }

    /** For threads, and those that they will make. */
    public static Link ofThreads(
            Program program, WatchedMemory place, List<Integer> tids, long cookie)
            throws IOException {
        return Link.ofEach(place.toString(), tids, tid -> attach(program, place, tid, -1, cookie));
    }

    private static Link attach(Program program, WatchedMemory place, int tid, int cpu, long cookie)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(ATTR_SIZE, 8);
            boolean execute = (place.access() & EXECUTE) != 0;
            attr.set(JAVA_INT, 0, TYPE);
            attr.set(JAVA_INT, 4, ATTR_SIZE);
            attr.set(JAVA_LONG, 16, 1);
            attr.set(JAVA_LONG, 40, tid >= 0 ? INHERIT : 0);
            // bp_type u32 at 52, bp_addr u64 at 56, bp_len u64 at 64.
            attr.set(JAVA_INT, 52, place.access());
            attr.set(JAVA_LONG, 56, place.address());
            attr.set(JAVA_LONG, 64, execute ? 8 : place.length());
            return Link.perfEvent(program, place.toString(), attr, tid, cpu, cookie, () -> {});
        }
    }
}
