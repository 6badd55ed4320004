package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Bpf;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

/**
 * While one is open, the kernel counts runs of all programs and their time ({@link
 * ProgramFacts#runCount}, {@link ProgramFacts#runNanos}); it costs each run some 20 ns. Since Linux
 * 5.8; the kernel switches it off when the last is closed or its process dies.
 */
public final class RunStatistics implements AutoCloseable {
    private final int fd;
    private boolean closed;

    private RunStatistics(int fd) {
        this.fd = fd;
    }

    /**
     * Switches counting on.
     *
     * @throws SyscallException EINVAL before Linux 5.8, where the sysctl kernel.bpf_stats_enabled
     *     does it for the machine; EPERM without CAP_SYS_ADMIN
     */
    public static RunStatistics open() throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, 0); // BPF_STATS_RUN_TIME
            return new RunStatistics(
                    (int) Bpf.call(BpfAttr.ENABLE_STATS, attr, "statistics of programs"));
        }
    }

    /** Stops counting, unless another still counts. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Fd.discard(fd);
        }
    }
}
