package sonde.probe.record;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.PollSet;
import sonde.sys.SyscallException;

/**
 * The thread that moves what the kernel wrote into files. A platform thread: it waits in the
 * kernel. It exists before the sources are armed, so that their filters know it.
 */
final class DrainLoop {
    /** Longest time between an event and its place in a file while rings fill. */
    private static final long POLL_NANOS = 100_000_000;

    /** The same where somebody reads the files meanwhile. */
    private static final long FOLLOWED_NANOS = 50_000_000;

    /** The same while no ring reached its mark: each look wakes an idle machine. */
    private static final long QUIET_NANOS = 800_000_000;

    private final RecorderSet sources;
    private final boolean isFollowed;
    private final SummaryNotes notes;
    private final CountDownLatch armed = new CountDownLatch(1);
    private final Thread thread;

    /** Ends a wait in poll(2). */
    private final int wake;

    private boolean open = true;
    private volatile boolean stopping;
    private volatile String failure = "";

    DrainLoop(RecorderSet sources, boolean isFollowed, SummaryNotes notes) throws SyscallException {
        this.sources = sources;
        this.isFollowed = isFollowed;
        this.wake = Fd.eventfd(0, FileCalls.O_CLOEXEC);
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
        if (thread.isAlive()) {
            try {
                Fd.signal(wake, 1);
            } catch (SyscallException e) {
                notes.add("the end was noticed late: " + e.getMessage());
            }
        }
        RecorderSet.join(thread);
        if (open) {
            open = false;
            Fd.discard(wake);
        }
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
            PollSet poll = new PollSet(arena, fds.size() + 1);
            for (int fd : fds) {
                poll.add(fd, PollSet.POLLIN);
            }
            poll.add(wake, PollSet.POLLIN);
            long patience = isFollowed ? FOLLOWED_NANOS : POLL_NANOS;
            boolean dead = false;
            long partlyNanos = 0;
            while (!stopping) {
                if (poll.await(patience) > 0) {
                    dead |= dropDead(poll, fds.size());
                    patience = isFollowed ? FOLLOWED_NANOS : POLL_NANOS;
                } else if (!dead && !isFollowed) {
                    patience = Math.min(2 * patience, QUIET_NANOS);
                }
                long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
                boolean partly = isFollowed && now - partlyNanos >= FOLLOWED_NANOS / 2;
                partlyNanos = partly ? now : partlyNanos;
                int errno = sources.drain(partly);
                if (errno != 0) {
                    end("the recording could not be written: " + Errno.describe(errno));
                    return;
                }
            }
        }
    }

    /**
     * A perf event whose task is gone hangs up for ever; its ring, where the task's children still
     * write, is drained on the time limit.
     */
    private static boolean dropDead(PollSet poll, int count) {
        boolean any = false;
        for (int i = 0; i < count; i++) {
            if ((poll.ready(i) & (PollSet.POLLHUP | PollSet.POLLERR | PollSet.POLLNVAL)) != 0) {
                poll.remove(i);
                any = true;
            }
        }
        return any;
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
