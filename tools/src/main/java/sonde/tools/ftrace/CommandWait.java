package sonde.tools.ftrace;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.LaunchedCommand;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/** Lets a command go, and waits for its end, a time, or a signal. */
final class CommandWait {
    private CommandWait() {}

    /**
     * Waits.
     *
     * @param child prepared; null for none
     * @return the command's status, 0 without one and while it runs
     */
    static int await(@Nullable LaunchedCommand child, long nanos)
            throws IOException, InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        AtomicInteger status = new AtomicInteger();
        try (EndSignals _ = EndSignals.listen(kind -> end(kind, child, ended))) {
            if (child != null) {
                child.release();
                Thread.ofPlatform()
                        .daemon()
                        .name("sonde-wait")
                        .start(() -> {
                            try {
                                status.set(child.await().shellCode());
                            } catch (SyscallException e) {
                                status.set(1); // somebody else has waited for it
                            }
                            ended.countDown();
                        });
            }
            boolean _ = ended.await(nanos, TimeUnit.NANOSECONDS);
        }
        return status.get();
    }

    /** Ctrl-C reaches the command by itself; other signals are passed on. */
    private static void end(
            EndSignals.Kind kind, @Nullable LaunchedCommand child, CountDownLatch ended) {
        if (child == null) {
            ended.countDown();
        } else if (kind != EndSignals.Kind.INTERRUPT) {
            try {
                ProcessCalls.kill(child.pid(), kind.number());
            } catch (SyscallException e) {
                ended.countDown(); // it has ended
            }
        }
    }
}
