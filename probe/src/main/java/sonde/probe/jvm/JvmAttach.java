package sonde.probe.jvm;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import sonde.probe.launch.PerfMapFile;
import sonde.probe.launch.ProcessIdentity;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.MappedRange;
import sonde.sys.ProcessCalls;
import sonde.sys.SignalDispositions;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/**
 * HotSpot's dynamic attach (src/hotspot/os/posix/attachListener_posix.cpp): a file {@code
 * .attach_pidN} in /tmp and SIGQUIT make it listen on the UNIX socket {@code /tmp/.java_pidN}; a
 * request is protocol version, command and three arguments, each ended by NUL; the answer is a
 * decimal code, a newline, text. N is the pid in the JVM's own pid namespace, and all names are
 * below its root.
 *
 * <p>SIGQUIT ends a process that does not handle it, so it is sent only where libjvm is mapped and
 * SigCgt holds it. Nothing is written that the JVM's user could turn against us: files are made
 * with O_EXCL in a folder opened through /proc/PID, and given to that user.
 */
public final class JvmAttach {
    private static final int ANSWER_LIMIT = 1 << 20;
    private static final String FOLDER = ".sonde-";
    private static final byte[] MAP = {'m', 'a', 'p'};
    private static final String MAP_COMMAND = "Compiler.perfmap";

    private static final String THREADS_COMMAND = "Thread.print";

    /** With it also who holds locks of java.util.concurrent: the JVM looks at all its objects. */
    private static final String OWNERS = " -l";

    private JvmAttach() {}

    /** An open way to one JVM's /tmp. */
    private record Jvm(int pid, ProcessIdentity identity, int tmpFd) {
        byte[] name(String prefix) {
            return (prefix + identity.innerPid()).getBytes(US_ASCII);
        }
    }

    /** What came back: a decimal code, 0 for success, and text. */
    private record JvmAnswer(String code, String text) {
        /** One printable line of at most 200 characters; the JVM's words are foreign. */
        String line() {
            String all = code.equals("0") ? text : code + " " + text;
            String line = all.lines().findFirst().orElse("").replaceAll("\\p{Cntrl}", "?");
            return line.substring(0, Math.min(200, line.length()));
        }
    }

    /** Whether the process has libjvm mapped and handles SIGQUIT; false when it is gone. */
    public static boolean isJvm(int pid) {
        try {
            if ((ProcessIdentity.of(pid).caught() & SignalDispositions.bit(ProcessCalls.SIGQUIT))
                    == 0) {
                return false;
            }
            return hasLibjvm(pid);
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether the process has libjvm mapped; false when it is gone. */
    public static boolean hasLibjvm(int pid) {
        try {
            return MappedRange.of(pid).stream()
                    .anyMatch(range -> range.path().endsWith("/libjvm.so"));
        } catch (SyscallException e) {
            return false;
        }
    }

    /**
     * Asks the JVM to write its perf map (JDK 17 and later) and reads it. The JVM writes with its
     * own rights, and through a link if it finds one, so it is given a name in a new folder that is
     * its user's alone. JDKs whose command takes no name write {@code /tmp/perf-PID.map}; they are
     * asked only when nothing but the JVM's own or root's regular file has that name.
     *
     * @param limit longest time for all of it
     * @return lines of hexadecimal start, hexadecimal size and name; at most {@link
     *     TargetFile#MAP_LIMIT} bytes
     * @throws IOException when it is not a JVM, does not answer in time or knows no such command
     */
    public static byte[] perfMap(int pid, Duration limit) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        ProcessIdentity identity = requireJvm(pid);
        byte[] folder =
                (FOLDER + ProcessCalls.getpid() + "-" + System.nanoTime()).getBytes(US_ASCII);
        int tmp = tmp(pid);
        try {
            FileCalls.mkdirat(tmp, folder, 0700);
            int inner = -1;
            try {
                int flags = FileCalls.O_RDONLY | FileCalls.O_DIRECTORY | FileCalls.O_NOFOLLOW;
                inner = FileCalls.openat(tmp, folder, flags, 0);
                if (ProcessCalls.geteuid() == 0) {
                    Fd.fchown(inner, identity.uid(), identity.gid());
                }
                String file = "/tmp/" + new String(folder, US_ASCII) + "/map";
                JvmAnswer answer = ask(pid, tmp, MAP_COMMAND + " " + file, deadline);
                if (answer.code().equals("0")) {
                    return read(pid, inner, answer);
                }
            } finally {
                if (inner >= 0) {
                    unlink(inner, MAP, 0);
                    Fd.discard(inner);
                }
                unlink(tmp, folder, FileCalls.AT_REMOVEDIR);
            }
            return perfMapAtItsPlace(pid, tmp, deadline);
        } finally {
            Fd.discard(tmp);
        }
    }

    /**
     * Asks the JVM for its threads with the monitors that they hold and wait for.
     *
     * @param owners whether to ask who holds locks of java.util.concurrent, too: for that the JVM
     *     stands still while it looks at all its objects
     * @param limit longest time for all of it
     * @return what jcmd prints, at most 1 MiB of it
     * @throws IOException as {@link #perfMap}
     */
    public static String threads(int pid, boolean owners, Duration limit)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        requireJvm(pid);
        int tmp = tmp(pid);
        try {
            JvmAnswer answer = ask(pid, tmp, THREADS_COMMAND + (owners ? OWNERS : ""), deadline);
            if (!answer.code().equals("0")) {
                throw new IOException("JVM " + pid + " tells no threads: " + answer.line());
            }
            return answer.text();
        } finally {
            Fd.discard(tmp);
        }
    }

    private static byte[] read(int pid, int folder, JvmAnswer answer) throws IOException {
        try (TargetFile map = TargetFile.openat(folder, MAP, PerfMapFile.LIMIT)) {
            return map.read(PerfMapFile.LIMIT);
        } catch (SyscallException e) {
            throw new IOException("JVM " + pid + " wrote no perf map: " + answer.line(), e);
        }
    }

    private static byte[] perfMapAtItsPlace(int pid, int tmp, long deadline)
            throws IOException, InterruptedException {
        try (TargetFile before = PerfMapFile.open(pid)) {
            JvmAnswer answer = ask(pid, tmp, MAP_COMMAND, deadline);
            if (!answer.code().equals("0")) {
                throw new IOException("JVM " + pid + " refuses: " + answer.line());
            }
            try (TargetFile map = PerfMapFile.open(pid)) {
                if (map == null) {
                    throw new IOException(
                            "JVM "
                                    + pid
                                    + (before == null ? " wrote no perf map: " : " removed its: ")
                                    + answer.line());
                }
                return map.read(PerfMapFile.LIMIT);
            }
        }
    }

    /**
     * Sends a diagnostic command, as jcmd does, and returns what it prints.
     *
     * @throws IOException also when the JVM answers with a failure
     */
    public static String command(int pid, String command, Duration limit)
            throws IOException, InterruptedException {
        requireJvm(pid);
        int tmp = tmp(pid);
        try {
            JvmAnswer answer = ask(pid, tmp, command, System.nanoTime() + limit.toNanos());
            if (!answer.code().equals("0")) {
                throw new IOException("JVM " + pid + " refuses: " + answer.line());
            }
            return answer.text();
        } finally {
            Fd.discard(tmp);
        }
    }

    private static ProcessIdentity requireJvm(int pid) throws IOException {
        if (!isJvm(pid)) {
            throw new IOException("process " + pid + " is not a JVM that handles SIGQUIT");
        }
        return ProcessIdentity.of(pid);
    }

    /** The JVM's /tmp, should it be a link within the JVM's root. */
    private static int tmp(int pid) throws SyscallException {
        String root = "/proc/" + pid + "/root";
        int rootFd = FileCalls.open(root, FileCalls.O_PATH | FileCalls.O_DIRECTORY);
        int flags = FileCalls.O_RDONLY | FileCalls.O_DIRECTORY;
        try {
            return FileCalls.openInRoot(rootFd, "/tmp".getBytes(US_ASCII), flags);
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOSYS) {
                throw e;
            }
            return FileCalls.open(root + "/tmp", flags | FileCalls.O_NOFOLLOW);
        } finally {
            Fd.discard(rootFd);
        }
    }

    private static JvmAnswer ask(int pid, int tmp, String command, long deadline)
            throws IOException, InterruptedException {
        Jvm jvm = new Jvm(pid, ProcessIdentity.of(pid), tmp);
        if (!listens(jvm)) {
            wake(jvm, deadline);
        }
        return request(jvm, command, deadline);
    }

    /** Whether the socket is there; another user's file of that name is refused. */
    private static boolean listens(Jvm jvm) throws IOException {
        FileStatus status;
        try {
            status =
                    FileCalls.statx(
                            jvm.tmpFd(), jvm.name(".java_pid"), FileCalls.AT_SYMLINK_NOFOLLOW);
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
        boolean owned = status.uid() == jvm.identity().uid() || status.uid() == 0;
        if (!owned || (status.mode() & FileStatus.S_IFMT) != FileStatus.S_IFSOCK) {
            throw new IOException(
                    "/tmp/.java_pid"
                            + jvm.identity().innerPid()
                            + " is "
                            + status.kind()
                            + " of user "
                            + status.uid()
                            + ", not the socket of JVM "
                            + jvm.pid());
        }
        return true;
    }

    /**
     * Makes the attach file, sends SIGQUIT and waits for the socket. A JVM that finds no file
     * prints the stacks of its threads, into what the program writes. So the file is in /tmp, where
     * each looks: its own directory, where it looks first, may be another one by then.
     */
    private static void wake(Jvm jvm, long deadline) throws IOException, InterruptedException {
        byte[] name = jvm.name(".attach_pid");
        int flags = FileCalls.O_CREAT | FileCalls.O_EXCL | FileCalls.O_NOFOLLOW | FileCalls.O_RDWR;
        int file;
        try {
            file = FileCalls.openat(jvm.tmpFd(), name, flags, 0600);
        } catch (SyscallException e) {
            if (e.errno() != Errno.EEXIST) {
                throw e;
            }
            // Left by an attach that was killed; the pid has been given to another process.
            unlink(jvm.tmpFd(), name, 0);
            file = FileCalls.openat(jvm.tmpFd(), name, flags, 0600);
        }
        try {
            if (ProcessCalls.geteuid() == 0) {
                Fd.fchown(file, jvm.identity().uid(), jvm.identity().gid());
            }
            awaitSocket(jvm, deadline);
        } finally {
            Fd.discard(file);
            unlink(jvm.tmpFd(), name, 0);
        }
    }

    private static void awaitSocket(Jvm jvm, long deadline)
            throws IOException, InterruptedException {
        int pauseMillis = 5;
        // The pid may have been given to another process since it was looked at.
        if (!isJvm(jvm.pid())) {
            throw new IOException("JVM " + jvm.pid() + " has ended");
        }
        ProcessCalls.kill(jvm.pid(), ProcessCalls.SIGQUIT);
        while (!listens(jvm)) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("JVM " + jvm.pid() + " does not listen in time");
            }
            TimeUnit.MILLISECONDS.sleep(pauseMillis);
            pauseMillis = Math.min(50, pauseMillis * 2);
        }
    }

    private static void unlink(int folder, byte[] name, int flags) {
        try {
            FileCalls.unlinkat(folder, name, flags);
        } catch (SyscallException e) {
            // The JVM's user may have removed it.
            return;
        }
    }

    private static JvmAnswer request(Jvm jvm, String command, long deadline) throws IOException {
        // sun_path holds 108 bytes; /proc/self/fd/N keeps it short and within the JVM's root.
        Path socket =
                Path.of("/proc/self/fd/" + jvm.tmpFd() + "/.java_pid" + jvm.identity().innerPid());
        byte[] bytes = ("1\0jcmd\0" + command + "\0\0\0").getBytes(StandardCharsets.UTF_8);
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                Selector selector = Selector.open()) {
            channel.configureBlocking(false);
            // A UNIX socket connects at once or fails; EAGAIN means a full backlog.
            if (!channel.connect(UnixDomainSocketAddress.of(socket))) {
                throw new IOException("JVM " + jvm.pid() + " accepts no connection");
            }
            ByteBuffer request = ByteBuffer.wrap(bytes);
            SelectionKey key = channel.register(selector, SelectionKey.OP_WRITE);
            while (request.hasRemaining()) {
                await(selector, deadline, jvm.pid());
                channel.write(request);
            }
            key.interestOps(SelectionKey.OP_READ);
            return answer(jvm.pid(), channel, selector, deadline);
        }
    }

    private static JvmAnswer answer(
            int pid, SocketChannel channel, Selector selector, long deadline) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        ByteBuffer buffer = ByteBuffer.allocate(8192);
        while (answer.size() < ANSWER_LIMIT) {
            await(selector, deadline, pid);
            int count = channel.read(buffer.clear());
            if (count < 0) {
                break;
            }
            answer.write(buffer.array(), 0, count);
        }
        String text = answer.toString(StandardCharsets.UTF_8);
        int line = text.indexOf('\n');
        return line < 0
                ? new JvmAnswer(text, "")
                : new JvmAnswer(text.substring(0, line), text.substring(line + 1));
    }

    private static void await(Selector selector, long deadline, int pid) throws IOException {
        long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (millis <= 0 || selector.select(millis) == 0) {
            throw new IOException("JVM " + pid + " does not answer in time");
        }
        selector.selectedKeys().clear();
    }
}
