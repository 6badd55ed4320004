package sonde.probe.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.PosixSpawn.SpawnAction;
import sonde.sys.PosixSpawn.SpawnAction.SpawnClose;
import sonde.sys.PosixSpawn.SpawnAction.SpawnOpen;
import sonde.sys.PosixSpawn.SpawnRequest;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Starts a command in two steps: the process exists and waits, then it goes on to its only execve.
 *
 * <p>The child of posix_spawn opens a FIFO first, which blocks until somebody opens the other end.
 * Meanwhile its pid is known and a recording can be armed for it. Should this process be killed in
 * that time, the child is killed too: the read end of a pipe that both hold is set to send SIGKILL
 * to the child (F_SETOWN, F_SETSIG, O_ASYNC) as soon as the last write end, ours, is gone.
 */
public final class CommandLauncher {
    private static final byte[] SHELL = "/bin/sh".getBytes(StandardCharsets.US_ASCII);

    private CommandLauncher() {}

    /**
     * Makes the process, stopped before execve. It has the environment, limits, signal state,
     * descriptors, nice value and CPUs of {@code origin}, and this process's directory, process
     * group and terminal.
     *
     * @throws ExecException when the command is not found or not executable
     * @throws SyscallException when no process can be made
     */
    public static LaunchedCommand prepare(CommandWords command, InheritedState origin)
            throws IOException {
        byte[] file = command.resolve(origin.variable("PATH"));
        List<byte[]> words = command.arguments();
        if (isShellScript(file)) {
            List<byte[]> script = new ArrayList<>(List.of(SHELL, file));
            script.addAll(words.subList(1, words.size()));
            words = script;
            file = SHELL;
        }
        restoreDescriptors(origin);
        restoreCoredumpFilter(origin);
        LaunchGate gate = LaunchGate.make();
        try {
            SpawnRequest request =
                    new SpawnRequest(
                            file,
                            words,
                            origin.environment(),
                            ~origin.ignoredSignals(),
                            origin.blockedSignals(),
                            gate.actions());
            return LaunchedCommand.start(command, request, gate, origin);
        } catch (IOException | RuntimeException e) {
            gate.close();
            throw e;
        }
    }

    /**
     * Whether execvp would hand the file to /bin/sh: execve says ENOEXEC for a file that is neither
     * ELF nor starts with {@code #!}. Where binfmt_misc knows other formats, and for files that
     * hold a NUL in their first bytes, the kernel is left to judge.
     */
    private static boolean isShellScript(byte[] file) {
        byte[] start;
        try {
            int fd =
                    FileCalls.openat(
                            FileCalls.AT_FDCWD, file, FileCalls.O_RDONLY | FileCalls.O_NONBLOCK, 0);
            try {
                start = FileCalls.readAll(fd, 128);
            } finally {
                Fd.discard(fd);
            }
        } catch (SyscallException e) {
            return false;
        }
        for (byte b : start) {
            if (b == 0) {
                return false;
            }
        }
        boolean interpreted = start.length >= 2 && start[0] == '#' && start[1] == '!';
        String[] formats = new java.io.File("/proc/sys/fs/binfmt_misc").list();
        // The folder always holds "register" and "status".
        return !interpreted && (formats == null || formats.length <= 2);
    }

    /** Marks what the JVM has opened since, so that the command does not inherit it. */
    private static void restoreDescriptors(InheritedState origin) throws SyscallException {
        for (int fd : InheritedState.open()) {
            if (!origin.descriptors().get(fd) && InheritedState.survivesExec(fd)) {
                try {
                    Fd.fcntl(fd, Fd.F_SETFD, Fd.FD_CLOEXEC);
                } catch (SyscallException e) {
                    if (e.errno() != Errno.EBADF) {
                        throw e;
                    }
                }
            }
        }
    }

    /** The filter belongs to the memory, which the child shares until execve hands it on. */
    private static void restoreCoredumpFilter(InheritedState origin) {
        try {
            java.nio.file.Files.writeString(
                    java.nio.file.Path.of("/proc/self/coredump_filter"),
                    "0x" + Integer.toHexString(origin.coredumpFilter()));
        } catch (IOException e) {
            // A kernel without CONFIG_ELF_CORE has no such file and nothing to inherit.
            return;
        }
    }

    /** The FIFO at which the child waits, and the pipe whose end kills it. */
    static final class LaunchGate {
        private final int fifo;
        private final int slot;
        private final Fd.Pipe leash;
        private boolean closed;

        private LaunchGate(int fifo, int slot, Fd.Pipe leash) {
            this.fifo = fifo;
            this.slot = slot;
            this.leash = leash;
        }

        static LaunchGate make() throws SyscallException {
            int fifo = namelessFifo();
            int slot = -1;
            try {
                slot = Fd.eventfd(0, FileCalls.O_CLOEXEC);
                return new LaunchGate(fifo, slot, Fd.pipe2(FileCalls.O_CLOEXEC));
            } catch (SyscallException e) {
                Fd.discard(fifo);
                if (slot >= 0) {
                    Fd.discard(slot);
                }
                throw e;
            }
        }

        /**
         * A FIFO that has no name any more, as an O_PATH descriptor. An anonymous pipe does not do:
         * opening one through /proc never blocks.
         */
        private static int namelessFifo() throws SyscallException {
            SyscallException refused = null;
            String unique = "sonde-" + ProcessCalls.getpid() + "-" + System.nanoTime();
            for (String parent : List.of("/dev/shm", "/tmp", "/var/tmp", ".")) {
                byte[] name = (parent + "/" + unique).getBytes(StandardCharsets.US_ASCII);
                try {
                    FileCalls.mkfifoat(FileCalls.AT_FDCWD, name, 0600);
                    try {
                        int flags = FileCalls.O_PATH | FileCalls.O_NOFOLLOW;
                        int fd = FileCalls.openat(FileCalls.AT_FDCWD, name, flags, 0);
                        FileStatus status = FileCalls.fstat(fd);
                        if ((status.mode() & FileStatus.S_IFMT) == FileStatus.S_IFIFO
                                && status.uid() == ProcessCalls.geteuid()) {
                            return fd;
                        }
                        Fd.discard(fd);
                    } finally {
                        FileCalls.unlinkat(FileCalls.AT_FDCWD, name, 0);
                    }
                } catch (SyscallException e) {
                    refused = e;
                }
            }
            throw refused == null ? new SyscallException("mknodat", "FIFO", Errno.EACCES) : refused;
        }

        private byte[] path() {
            return ("/proc/self/fd/" + fifo).getBytes(StandardCharsets.US_ASCII);
        }

        /** Before execve: drop the leash's write end, wait at the FIFO, close it. */
        List<SpawnAction> actions() {
            return List.of(
                    new SpawnClose(leash.writeEnd()),
                    new SpawnOpen(slot, path(), FileCalls.O_RDONLY),
                    new SpawnClose(slot));
        }

        /** From now on the child dies with us. */
        void tie(int pid) throws SyscallException {
            Fd.fcntl(leash.readEnd(), Fd.F_SETOWN, pid);
            Fd.fcntl(leash.readEnd(), Fd.F_SETSIG, ProcessCalls.SIGKILL);
            Fd.fcntl(leash.readEnd(), Fd.F_SETFL, Fd.O_ASYNC);
        }

        /** Lets the child live on without us. */
        void untie() throws SyscallException {
            Fd.fcntl(leash.readEnd(), Fd.F_SETFL, 0);
        }

        /**
         * Opens the FIFO for both directions, which never blocks; the child passes whether it waits
         * already or comes later.
         *
         * @return to be closed when the child has passed
         */
        int open() throws SyscallException {
            return FileCalls.openat(
                    FileCalls.AT_FDCWD, path(), FileCalls.O_RDWR | FileCalls.O_NONBLOCK, 0);
        }

        synchronized void close() {
            if (!closed) {
                closed = true;
                Fd.discard(fifo);
                Fd.discard(slot);
                Fd.discard(leash.readEnd());
                Fd.discard(leash.writeEnd());
            }
        }
    }
}
