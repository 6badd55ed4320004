package sonde.tools.trace;

import sonde.probe.launch.LaunchedCommand;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/** The command that {@code -c} starts: watched for its end, ended with the trace. */
final class TraceChild {
    private static final int SIGTERM = 15;

    private volatile boolean running = true;

    /** As a shell shows it; 0 as long as it runs. */
    private volatile int status;

    private TraceChild() {}

    static TraceChild watch(LaunchedCommand child) {
        TraceChild watch = new TraceChild();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                watch.status = child.await().shellCode();
                            } catch (SyscallException e) {
                                // It is nobody's child any more: gone all the same.
                            }
                            watch.running = false;
                        },
                        "child");
        thread.setDaemon(true);
        thread.start();
        return watch;
    }

    boolean isRunning() {
        return running;
    }

    /** How it ended: its exit code, 128 + N for signal N; 0 while it runs. */
    int status() {
        return status;
    }

    /** Ends a command that still runs. */
    static void end(LaunchedCommand child) throws SyscallException {
        child.close();
        try {
            ProcessCalls.kill(child.pid(), SIGTERM);
        } catch (SyscallException e) {
            // It has ended by itself.
        }
    }
}
