package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.sys.Bpf;
import sonde.sys.Fd;
import sonde.sys.Machine;
import sonde.sys.Perf;
import sonde.sys.SyscallException;

/** A program's attachment; closing detaches. The kernel does the same when this process dies. */
public final class Link implements AutoCloseable {
    // struct perf_event_attr, include/uapi/linux/perf_event.h, up to PERF_ATTR_SIZE_VER8.
    private static final int ATTR_SIZE = 136;
    private static final int TYPE_TRACEPOINT = 2;
    private static final long DISABLED = 1;
    private static final int IOC_ENABLE = 0x2400;
    private static final int IOC_SET_BPF = 0x40042408;

    private final String target;
    private final int fd;
    private boolean closed;

    private Link(String target, int fd) {
        this.target = target;
        this.fd = fd;
    }

    /**
     * Attaches a {@link ProgramType#TRACEPOINT} program. It runs on every CPU, although the perf
     * event that carries it belongs to one; a program that returns 0 makes no sample of it.
     */
    public static Link tracepoint(Program program, Tracepoint tracepoint) throws IOException {
        String target = tracepoint.toString();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(ATTR_SIZE, 8);
            attr.set(JAVA_INT, 0, TYPE_TRACEPOINT);
            attr.set(JAVA_INT, 4, ATTR_SIZE);
            attr.set(JAVA_LONG, 8, tracepoint.id());
            attr.set(JAVA_LONG, 40, DISABLED);
            int cpu = Machine.onlineCpus().nextSetBit(0);
            long fd = Perf.tryOpen(attr, -1, cpu, -1, 0);
            if (fd < 0) {
                throw failure("perf_event_open", target, (int) -fd);
            }
            try {
                Fd.ioctl((int) fd, IOC_SET_BPF, program.fd());
                Fd.ioctl((int) fd, IOC_ENABLE, 0);
                return new Link(target, (int) fd);
            } catch (SyscallException e) {
                Fd.discard((int) fd);
                throw failure(e.call(), target, e.errno());
            }
        }
    }

    /**
     * Attaches a {@link ProgramType#RAW_TRACEPOINT} program (Linux 4.17).
     *
     * @param name without the category: {@code "sys_enter"}
     */
    public static Link rawTracepoint(Program program, String name) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = Attr.allocate(arena);
            attr.set(JAVA_LONG, 0, arena.allocateFrom(name).address());
            attr.set(JAVA_INT, 8, program.fd());
            long fd = Bpf.tryCall(Attr.RAW_TRACEPOINT_OPEN, attr);
            if (fd < 0) {
                throw failure("bpf", "raw tracepoint " + name, (int) -fd);
            }
            return new Link(name, (int) fd);
        }
    }

    private static IOException failure(String call, String target, int errno) {
        BpfRefusedException refused = Refusal.of("attaching to " + target, errno);
        return refused != null ? refused : new SyscallException(call, target, errno);
    }

    /** What it is attached to: {@code "syscalls:sys_enter_openat"}. */
    public String target() {
        return target;
    }

    /** Detaches; waits until no CPU runs the program through this link any more. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Fd.discard(fd);
        }
    }
}
