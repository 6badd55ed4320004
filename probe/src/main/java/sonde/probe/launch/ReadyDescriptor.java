package sonde.probe.launch;

import java.nio.charset.StandardCharsets;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * A file descriptor of the caller that gets the line {@code ready} once every event source is
 * armed. Whoever reads the line knows that events are recorded from now on. The descriptor is
 * closed without the line when the recording cannot start. The command does not inherit it.
 */
public final class ReadyDescriptor implements AutoCloseable {
    /** Standard input, output and error are the command's. */
    private static final int FIRST = 3;

    private static final int O_ACCMODE = 3;
    private static final byte[] LINE = "ready\n".getBytes(StandardCharsets.US_ASCII);

    private final int fd;
    private boolean closed;

    private ReadyDescriptor(int fd) {
        this.fd = fd;
    }

    /**
     * Takes over a descriptor that this process inherited.
     *
     * @throws IllegalArgumentException when it cannot be written to; the message says why
     */
    public static ReadyDescriptor of(int fd, InheritedState origin) {
        if (fd < FIRST) {
            throw new IllegalArgumentException("file descriptors 0 to 2 belong to the command");
        }
        if (!origin.descriptors().get(fd)) {
            throw new IllegalArgumentException("file descriptor " + fd + " is not open");
        }
        try {
            if ((Fd.fcntl(fd, Fd.F_GETFL, 0) & O_ACCMODE) == FileCalls.O_RDONLY) {
                throw new IllegalArgumentException("file descriptor " + fd + " is read-only");
            }
            Fd.fcntl(fd, Fd.F_SETFD, Fd.FD_CLOEXEC);
        } catch (SyscallException e) {
            throw new IllegalArgumentException("file descriptor " + fd + " is not open", e);
        }
        return new ReadyDescriptor(fd);
    }

    /**
     * Writes the line and closes the descriptor.
     *
     * @throws SyscallException when the line cannot be written; EPIPE when nobody reads it
     */
    public void ready() throws SyscallException {
        try {
            Fd.writeFully(fd, LINE);
        } finally {
            close();
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Fd.discard(fd);
        }
    }
}
