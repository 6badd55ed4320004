package sonde.tools.trace;

import sonde.probe.launch.LaunchedCommand;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/** The command that {@code -c} starts: watched for its end, ended with the trace. */
final class TraceChild {
    private static final int SIGTERM = 15;

    private volatile boolean running = true;

    private TraceChild() {}

    static TraceChild watch(LaunchedCommand child) {
        TraceChild watch = new TraceChild();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                child.await();
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
