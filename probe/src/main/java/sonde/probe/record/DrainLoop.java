package sonde.probe.record;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import sonde.sys.Errno;
import sonde.sys.PollSet;

/**
 * The thread that moves what the kernel wrote into files. A platform thread: it waits in the
 * kernel. It exists before the sources are armed, so that their filters know it.
 */
final class DrainLoop {
    /** Longest time between an event and its place in a file. */
    private static final long POLL_NANOS = 100_000_000;

    private final Sources sources;
    private final Notes notes;
    private final CountDownLatch armed = new CountDownLatch(1);
    private final Thread thread;
    private volatile boolean stopping;
    private volatile String failure = "";

    DrainLoop(Sources sources, Notes notes) {
        this.sources = sources;
        this.notes = notes;
        this.thread = Thread.ofPlatform().daemon().name("sonde-record").start(this::run);
    }

    /** Begins to drain. */
    void armed() {
        armed.countDown();
    }

    /** Ends it and waits until it did. */
    void stop() {
        stopping = true;
        armed.countDown();
        Sources.join(thread);
    }

    /** Why it ended by itself, empty when it did not. */
    String failure() {
        return failure;
    }

    /** Says, once, why the recording is not whole. */
    void fail(String reason) {
        if (failure.isEmpty()) {
            failure = reason;
            notes.add(reason);
        }
    }

    private void run() {
        try {
            armed.await();
            drain();
        } catch (InterruptedException e) {
            end("interrupted");
        } catch (IOException e) {
            end(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            // The events must not go on with nobody to take them.
            end("the recorder failed: " + e);
            throw e;
        }
    }

    private void drain() throws IOException {
        List<Integer> fds = sources.pollable();
        try (Arena arena = Arena.ofConfined()) {
            PollSet poll = new PollSet(arena, Math.max(fds.size(), 1));
            for (int fd : fds) {
                poll.add(fd, PollSet.POLLIN);
            }
            while (!stopping) {
                if (poll.await(POLL_NANOS) > 0) {
                    dropDead(poll, fds.size());
                }
                int errno = sources.drain();
                if (errno != 0) {
                    end("the recording could not be written: " + Errno.describe(errno));
                    return;
                }
            }
        }
    }

    /** A perf event whose last task is gone hangs up for ever; it is drained on the time limit. */
    private static void dropDead(PollSet poll, int count) {
        for (int i = 0; i < count; i++) {
            if ((poll.ready(i) & (PollSet.POLLHUP | PollSet.POLLERR | PollSet.POLLNVAL)) != 0) {
                poll.remove(i);
            }
        }
    }

    /** Ends the recording early; what is there is kept. */
    private void end(String reason) {
        fail(reason);
        try {
            sources.off();
        } catch (IOException e) {
            notes.add(String.valueOf(e.getMessage()));
        }
    }
}
