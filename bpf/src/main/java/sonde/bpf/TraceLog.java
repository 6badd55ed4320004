package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * What programs write by bpf_trace_printk: tracefs' trace_pipe, which hands each line to one reader
 * and takes it out of the machine's trace buffer. Nothing is switched on; the kernel switches the
 * event on when it looks at such a program.
 */
public final class TraceLog implements AutoCloseable {
    private static final String PIPE = "/sys/kernel/tracing/trace_pipe";
    private static final int BLOCK = 16384;

    private final int fd;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment block = arena.allocate(BLOCK);
    private boolean closed;

    private TraceLog(int fd) {
        this.fd = fd;
    }

    /**
     * Opens the pipe.
     *
     * @throws SyscallException ENOENT without tracefs, EACCES without rights
     */
    public static TraceLog open() throws SyscallException {
        return new TraceLog(FileCalls.open(PIPE, FileCalls.O_RDONLY | FileCalls.O_NONBLOCK));
    }

    /** What is there, at most 16 KiB of whole lines; empty when there is nothing. */
    public byte[] read() throws SyscallException {
        int count = (int) Fd.read(fd, block);
        return block.asSlice(0, Math.max(0, count)).toArray(JAVA_BYTE);
    }

    /** Closes the pipe. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Fd.discard(fd);
            arena.close();
        }
    }
}
