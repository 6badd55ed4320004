package sonde.probe.launch;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandLauncher.LaunchGate;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.PosixSpawn;
import sonde.sys.PosixSpawn.SpawnRequest;
import sonde.sys.ProcessCalls;
import sonde.sys.ResourceLimit;
import sonde.sys.SignalDispositions;
import sonde.sys.SyscallException;
import sonde.sys.WaitStatus;

/**
 * A command that is about to run, runs, or has run. Methods are for one thread, except that {@link
 * #pid} may be asked by any.
 */
public final class LaunchedCommand implements AutoCloseable {
    private static final String SPAWNER = "sonde-spawn";
    private static final long POLL_NANOS = 100_000;

    private final CommandWords command;
    private final int pid;
    private final CompletableFuture<Integer> spawned;
    private final LaunchGate gate;
    private boolean released;
    private @Nullable WaitStatus status;

    private LaunchedCommand(
            CommandWords command, int pid, CompletableFuture<Integer> spawned, LaunchGate gate) {
        this.command = command;
        this.pid = pid;
        this.spawned = spawned;
        this.gate = gate;
    }

    static LaunchedCommand start(
            CommandWords command, SpawnRequest request, LaunchGate gate, InheritedState origin)
            throws IOException {
        CompletableFuture<Integer> spawned = new CompletableFuture<>();
        CompletableFuture<Integer> spawner = new CompletableFuture<>();
        List<SignalDispositions.Disposition> changed = ignoreAgain(origin);
        try {
            Thread.ofPlatform()
                    .name(SPAWNER)
                    .daemon()
                    .start(() -> spawn(request, origin, spawner, spawned));
            int child = child(spawner, spawned);
            if (child == 0) {
                throw failure(command, spawned);
            }
            try {
                gate.tie(child);
                restoreLimits(child, origin);
            } catch (SyscallException e) {
                abandon(child, spawned);
                throw e;
            }
            return new LaunchedCommand(command, child, spawned, gate);
        } finally {
            for (SignalDispositions.Disposition disposition : changed) {
                disposition.restore();
            }
        }
    }

    /** Signals ignored when we started, over which the JVM has put handlers since. */
    private static List<SignalDispositions.Disposition> ignoreAgain(InheritedState origin)
            throws SyscallException {
        List<SignalDispositions.Disposition> changed = new ArrayList<>();
        for (int signal = 1; signal <= 64; signal++) {
            if ((origin.ignoredSignals() & SignalDispositions.bit(signal)) != 0
                    && signal != ProcessCalls.SIGKILL
                    && signal != ProcessCalls.SIGSTOP) {
                changed.add(SignalDispositions.ignore(signal));
            }
        }
        return changed;
    }

    private static void spawn(
            SpawnRequest request,
            InheritedState origin,
            CompletableFuture<Integer> spawner,
            CompletableFuture<Integer> spawned) {
        try {
            // Both belong to the thread and are inherited from the one that calls posix_spawn.
            if (ProcessCalls.nice(0) != origin.nice()) {
                ProcessCalls.nice(0, origin.nice());
            }
            if (!ProcessCalls.affinity(0).equals(origin.cpus())) {
                ProcessCalls.affinity(0, origin.cpus());
            }
            spawner.complete(ProcessCalls.gettid());
            spawned.complete(PosixSpawn.spawn(request));
        } catch (SyscallException | RuntimeException | Error e) {
            spawner.completeExceptionally(e);
            spawned.completeExceptionally(e);
        }
    }

    /** The pid of the spawning thread's child, or 0 when posix_spawn has failed already. */
    private static int child(
            CompletableFuture<Integer> spawner, CompletableFuture<Integer> spawned) {
        int tid;
        try {
            tid = spawner.join();
        } catch (CompletionException e) {
            return 0;
        }
        // Not to be interrupted here: a child nobody knows would wait for ever.
        while (!spawned.isDone()) {
            int child = childOf(tid);
            if (child != 0) {
                return child;
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        return 0;
    }

    private static int childOf(int tid) {
        try {
            byte[] children = FileCalls.readAll("/proc/self/task/" + tid + "/children", 4096);
            String first = new String(children, StandardCharsets.US_ASCII).strip();
            return first.isEmpty() ? 0 : Integer.parseInt(first.split(" ", 2)[0]);
        } catch (SyscallException e) {
            // A kernel without CONFIG_PROC_CHILDREN.
            return childNamed(SPAWNER);
        }
    }

    /** A child of this process by its name, or 0; the name of a child before execve is ours. */
    static int childNamed(String name) {
        String start = " (" + name + ") ";
        String parent = " " + ProcessCalls.getpid() + " ";
        String[] processes = new File("/proc").list((folder, file) -> file.matches("[0-9]{1,9}"));
        for (String pid : processes == null ? new String[0] : processes) {
            try {
                byte[] stat = FileCalls.readAll("/proc/" + pid + "/stat", 4096);
                String line = new String(stat, StandardCharsets.ISO_8859_1);
                // PID (comm) state ppid
                if (line.startsWith(pid + start)
                        && line.startsWith(parent, pid.length() + start.length() + 1)) {
                    return Integer.parseInt(pid);
                }
            } catch (SyscallException e) {
                continue; // ended meanwhile
            }
        }
        return 0;
    }

    private static void restoreLimits(int child, InheritedState origin) throws SyscallException {
        for (int resource = 0; resource < ResourceLimit.COUNT; resource++) {
            ResourceLimit wanted = origin.limits().get(resource);
            if (!ProcessCalls.limit(child, resource).equals(wanted)) {
                ProcessCalls.limit(child, resource, wanted);
            }
        }
    }

    private static IOException failure(CommandWords command, CompletableFuture<Integer> spawned) {
        try {
            return new IOException("posix_spawn returned early for pid " + spawned.join());
        } catch (CompletionException e) {
            if (e.getCause() instanceof SyscallException refused) {
                return refused.call().equals("posix_spawn") && refused.errno() != Errno.EAGAIN
                        ? new ExecException(command, refused.errno())
                        : refused;
            }
            return new IOException(e.getCause());
        }
    }

    /** The command's process, from before its execve. */
    public int pid() {
        return pid;
    }

    /**
     * Lets it execute the command; returns when execve has succeeded.
     *
     * @throws ExecException when execve failed; the process is gone
     */
    public void release() throws IOException {
        if (released) {
            throw new IllegalStateException("released before");
        }
        gate.untie();
        released = true;
        int fifo = gate.open();
        try {
            // Not to be interrupted: the other end stays open until the child has passed.
            spawned.join();
        } catch (CompletionException e) {
            throw failure(command, spawned);
        } finally {
            Fd.discard(fifo);
            gate.close();
        }
    }

    /** Waits for its end, for all who ask; blocks in the kernel, so not for virtual threads. */
    public synchronized WaitStatus await() throws SyscallException {
        WaitStatus known = status;
        if (known == null) {
            known = ProcessCalls.wait4(pid, ProcessCalls.WALL).orElseThrow();
            status = known;
        }
        return known;
    }

    /** Kills a command that was never released; one that runs is left alone. */
    @Override
    public void close() throws SyscallException {
        if (!released) {
            released = true;
            try {
                abandon(pid, spawned);
            } finally {
                gate.close();
            }
        }
    }

    private static void abandon(int pid, CompletableFuture<Integer> spawned)
            throws SyscallException {
        ProcessCalls.kill(pid, ProcessCalls.SIGKILL);
        try {
            // glibc takes a child killed before execve for a success and leaves it to be reaped.
            spawned.get(5, TimeUnit.SECONDS);
            ProcessCalls.wait4(pid, ProcessCalls.WALL);
        } catch (ExecutionException | TimeoutException e) {
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
