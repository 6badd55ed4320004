package sonde.tools.syscalls;

import java.io.IOException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandLauncher;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.LaunchedCommand;
import sonde.probe.syscall.Awaited;
import sonde.probe.syscall.CallSource;
import sonde.probe.syscall.PtraceSession;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/** The command that is traced, from before its start to its end, and what Ctrl-C does. */
public final class TracedTarget implements AutoCloseable {
    private final EndSignals signals;
    private final @Nullable LaunchedCommand child;
    private volatile int interrupted;
    private volatile boolean childEnded;
    private volatile int status;

    private TracedTarget(@Nullable CommandWords command, InheritedState origin) throws IOException {
        signals = EndSignals.listen(kind -> interrupted = kind.number());
        try {
            child = command == null ? null : CommandLauncher.prepare(command, origin);
        } catch (IOException | RuntimeException e) {
            signals.close();
            throw e;
        }
    }

    /**
     * Makes the command's process, which waits, and has it followed.
     *
     * @param command null for running processes alone
     * @throws IOException when it cannot be started, or the source cannot be opened
     */
    public static TracedTarget prepare(
            @Nullable CommandWords command,
            InheritedState origin,
            Future<? extends CallSource> opening)
            throws IOException {
        TracedTarget target;
        try {
            target = new TracedTarget(command, origin);
        } catch (IOException | RuntimeException e) {
            closeLater(opening);
            throw e;
        }
        try {
            CallSource source = Awaited.of(opening);
            if (target.child != null) {
                source.follow(target.child.pid());
            }
            return target;
        } catch (IOException | RuntimeException e) {
            target.close();
            closeLater(opening);
            throw e;
        }
    }

    /** The command could not be started; the session that is being opened goes, too. */
    private static void closeLater(Future<? extends CallSource> task) {
        try {
            Awaited.of(task).close();
        } catch (IOException | IllegalStateException e) {
            return; // that one was refused as well
        }
    }

    /** The command's process; 0 without. */
    public int pid() {
        return child == null ? 0 : child.pid();
    }

    /** Lets the command go, and waits for its end on another thread. */
    public void start(CallSource source) throws IOException {
        LaunchedCommand command = child;
        if (command == null) {
            childEnded = true;
            return;
        }
        command.release();
        Thread.ofPlatform()
                .daemon()
                .name("command")
                .start(() -> {
                    try {
                        status = end(command, source);
                    } catch (SyscallException e) {
                        status = 0; // somebody else has waited for it
                    }
                    childEnded = true;
                });
    }

    /** The tracing thread is told of the end in place of us. */
    private static int end(LaunchedCommand command, CallSource source) throws SyscallException {
        if (source instanceof PtraceSession session) {
            int word = session.status(command.pid());
            return (word & 0x7f) == 0 ? word >> 8 & 0xff : 128 + (word & 0x7f);
        }
        return command.await().shellCode();
    }

    /**
     * Ctrl-C reaches the command by itself, and the command decides what it does; other signals are
     * passed on to it. Processes that ran before are left alone.
     */
    public boolean isDone(CallSource source) throws SyscallException {
        if (childEnded && source.isAlone() || interrupted != 0 && child == null) {
            return true;
        }
        if (interrupted != 0 && child != null && !childEnded) {
            if (interrupted != EndSignals.Kind.INTERRUPT.number()) {
                ProcessCalls.kill(child.pid(), interrupted);
            }
            interrupted = 0;
        }
        return false;
    }

    /** How the command ended: its exit code, 128 + N for signal N; 0 without a command. */
    public int status() {
        return status;
    }

    @Override
    public void close() throws SyscallException {
        if (child != null) {
            child.close();
        }
        signals.close();
    }
}
