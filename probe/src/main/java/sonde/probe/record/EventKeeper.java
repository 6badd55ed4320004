package sonde.probe.record;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.PosixSpawn;
import sonde.sys.PosixSpawn.SpawnAction;
import sonde.sys.PosixSpawn.SpawnAction.SpawnClose;
import sonde.sys.PosixSpawn.SpawnAction.SpawnOpen;
import sonde.sys.PosixSpawn.SpawnRequest;
import sonde.sys.SyscallException;

/**
 * A process that has the perf events last. Whoever closes the last event of a tracepoint waits for
 * grace periods of RCU under the kernel's event_mutex (perf_trace_event_unreg), 20 to 50 ms for
 * each tracepoint, and so would the end of this process. The events are switched off and carry no
 * program: a shell that waits for the end of a pipe takes them along when it ends.
 */
final class EventKeeper implements AutoCloseable {
    private final int pipe;

    private EventKeeper(int pipe) {
        this.pipe = pipe;
    }

    /**
     * Hands out copies of descriptors.
     *
     * @param events on tracepoints, switched off, without programs
     * @throws SyscallException when no shell can be started: nothing has changed then
     */
    static EventKeeper start(Collection<Integer> events) throws SyscallException {
        List<SpawnAction> actions = new ArrayList<>();
        Fd.Pipe pipe = Fd.pipe2(FileCalls.O_CLOEXEC);
        try {
            byte[] nothing = bytes("/dev/null");
            actions.add(new SpawnOpen(0, bytes("/proc/self/fd/" + pipe.readEnd()), 0));
            actions.add(new SpawnOpen(1, nothing, FileCalls.O_WRONLY));
            actions.add(new SpawnOpen(2, nothing, FileCalls.O_WRONLY));
            String[] names = new File("/proc/self/fd").list();
            for (String name : names == null ? new String[0] : names) {
                int fd = Integer.parseInt(name);
                if (events.contains(fd)) {
                    Fd.fcntl(fd, Fd.F_SETFD, 0);
                } else if (fd > 2) {
                    actions.add(new SpawnClose(fd)); // also what the user's shell handed down
                }
            }
            PosixSpawn.spawn(
                    new SpawnRequest(
                            bytes("/bin/sh"),
                            List.of(bytes("sh"), bytes("-c"), bytes("read _")),
                            List.of(),
                            -1L,
                            0,
                            actions));
            return new EventKeeper(pipe.writeEnd());
        } catch (SyscallException e) {
            Fd.discard(pipe.writeEnd());
            throw e;
        } finally {
            Fd.discard(pipe.readEnd());
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Lets the process end; after this one has closed its own. */
    @Override
    public void close() {
        Fd.discard(pipe);
    }
}
