package sonde.probe.perf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.probe.tracefs.InstanceName;
import sonde.sys.Bpf;
import sonde.sys.Fd;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Keeps samples of this process out of system-wide perf events: a BPF program of seven instructions
 * on each event's overflow. What it returns 0 for is not written, and does not count as lost.
 *
 * <p>The program sees pids of the initial namespace; in another namespace there is no filter, and
 * the samples are left out when reading.
 */
final class OwnSampleFilter implements AutoCloseable {
    private static final int PERF_EVENT_IOC_SET_BPF = 0x40042408;
    private static final int BPF_PROG_LOAD = 5;
    private static final int BPF_PROG_TYPE_PERF_EVENT = 7;

    private final int program;

    private OwnSampleFilter(int program) {
        this.program = program;
    }

    /**
     * Loads the program.
     *
     * @throws SyscallException when BPF is not allowed, or this is no initial pid namespace (EINVAL
     *     of {@code bpf})
     */
    static OwnSampleFilter load() throws SyscallException {
        if (InstanceName.namespace() != InstanceName.INITIAL_NAMESPACE) {
            throw new SyscallException(
                    "bpf", "filter of own samples, in a pid namespace", sonde.sys.Errno.EINVAL);
        }
        long own = Integer.toUnsignedLong(ProcessCalls.getpid());
        // struct bpf_insn: u8 code, u8 registers, s16 off, s32 imm
        long[] code = {
            0x85L | 14L << 32, // call get_current_pid_tgid
            0x77L | 32L << 32, // r0 >>= 32
            0x15L | 2L << 16 | own << 32, // if r0 == own goto +2
            0xb7L | 1L << 32, // r0 = 1
            0x95L, // exit
            0xb7L, // r0 = 0
            0x95L, // exit
        };
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment instructions = arena.allocateFrom(JAVA_LONG, code);
            // union bpf_attr of BPF_PROG_LOAD: type 0, insn_cnt 4, insns 8, license 16
            MemorySegment attr = arena.allocate(168, 8);
            attr.set(JAVA_INT, 0, BPF_PROG_TYPE_PERF_EVENT);
            attr.set(JAVA_INT, 4, code.length);
            attr.set(JAVA_LONG, 8, instructions.address());
            attr.set(JAVA_LONG, 16, arena.allocateFrom("GPL").address());
            return new OwnSampleFilter((int) Bpf.call(BPF_PROG_LOAD, attr, "own sample filter"));
        }
    }

    /** Attaches to a perf event that is not a tracepoint. */
    void attach(int fd) throws SyscallException {
        Fd.ioctl(fd, PERF_EVENT_IOC_SET_BPF, program);
    }

    /** The events keep the program as long as they live. */
    @Override
    public void close() {
        Fd.discard(program);
    }
}
