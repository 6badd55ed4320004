package sonde.probe.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileStatus;
import sonde.sys.Files;
import sonde.sys.SyscallException;

/**
 * A file named by another process, opened as that process sees it (/proc/PID/root) and with the
 * suspicion that a name chosen by others deserves: the last component is no link, opening never
 * blocks and has no effect on devices, and it is a regular file of bounded size.
 *
 * <p>The file is looked at through an O_PATH descriptor first, because opening a device for reading
 * may already do something (a tape rewinds, a watchdog starts).
 */
public final class TargetFile implements AutoCloseable {
    /** Greatest ELF or debug file that is read: the largest known, of browsers, have 4 GiB. */
    public static final long ELF_LIMIT = 8L << 30;

    /** Greatest perf map: 64 MiB hold about a million compiled methods. */
    public static final int MAP_LIMIT = 64 << 20;

    private final int fd;
    private final FileStatus status;

    private TargetFile(int fd, FileStatus status) {
        this.fd = fd;
        this.status = status;
    }

    /**
     * Opens a file by a path as process {@code pid} sees it.
     *
     * @param path absolute in the process's mount namespace; links in the folders on the way stay
     *     within its root
     * @throws IOException when it is not a regular file, too big, or the process is gone
     */
    public static TargetFile open(int pid, byte[] path, long limitBytes) throws IOException {
        String name = new String(path, StandardCharsets.UTF_8);
        if (path.length == 0 || path[0] != '/') {
            throw new IOException(name + ": not an absolute path");
        }
        return check(handle(pid, path), name, limitBytes);
    }

    /** Opens a name in an open directory, with the same suspicion. */
    public static TargetFile openat(int dirFd, byte[] name, long limitBytes) throws IOException {
        int handle = Files.openat(dirFd, name, Files.O_PATH | Files.O_NOFOLLOW, 0);
        return check(handle, new String(name, StandardCharsets.UTF_8), limitBytes);
    }

    private static TargetFile check(int handle, String name, long limitBytes) throws IOException {
        try {
            FileStatus status = Files.fstat(handle);
            if (!status.isRegular()) {
                throw new IOException(name + ": " + status.kind() + ", not a regular file");
            }
            if (status.sizeBytes() > limitBytes) {
                throw new IOException(
                        name
                                + ": "
                                + status.sizeBytes()
                                + " bytes, more than the "
                                + limitBytes
                                + " that are read");
            }
            byte[] same = ("/proc/self/fd/" + handle).getBytes(StandardCharsets.US_ASCII);
            int flags = Files.O_RDONLY | Files.O_NONBLOCK | Files.O_NOCTTY;
            return new TargetFile(Files.openat(Files.AT_FDCWD, same, flags, 0), status);
        } finally {
            Fd.discard(handle);
        }
    }

    private static int handle(int pid, byte[] path) throws SyscallException {
        byte[] root = ("/proc/" + pid + "/root").getBytes(StandardCharsets.US_ASCII);
        int flags = Files.O_PATH | Files.O_NOFOLLOW;
        int rootFd = Files.openat(Files.AT_FDCWD, root, Files.O_PATH | Files.O_DIRECTORY, 0);
        try {
            return Files.openInRoot(rootFd, path, flags);
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOSYS) {
                throw e;
            }
            // Before Linux 5.6: absolute links on the way lead into our own root; what is opened
            // is a regular file in any case.
            byte[] full = Arrays.copyOf(root, root.length + path.length);
            System.arraycopy(path, 0, full, root.length, path.length);
            return Files.openat(Files.AT_FDCWD, full, flags, 0);
        } finally {
            Fd.discard(rootFd);
        }
    }

    /**
     * Opens the perf map a JIT left for the process: {@code /tmp/perf-PID.map} in its root, with
     * its pid in its own namespace. Anybody may write to /tmp, so it counts only when it belongs to
     * the process's effective user or to root.
     *
     * @return null when there is none
     */
    public static @Nullable TargetFile perfMap(int pid) throws IOException {
        ProcessIdentity identity = ProcessIdentity.of(pid);
        byte[] path =
                ("/tmp/perf-" + identity.innerPid() + ".map").getBytes(StandardCharsets.UTF_8);
        TargetFile map;
        try {
            map = open(pid, path, MAP_LIMIT);
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                return null;
            }
            throw e;
        }
        int owner = map.status.uid();
        if (owner != identity.uid() && owner != 0) {
            map.close();
            throw new IOException(
                    "/tmp/perf-"
                            + identity.innerPid()
                            + ".map belongs to user "
                            + owner
                            + ", neither to the process's user "
                            + identity.uid()
                            + " nor to root");
        }
        return map;
    }

    /** The open file, for reading; closed with this object. */
    public int fd() {
        return fd;
    }

    /** What it was when opened. */
    public FileStatus status() {
        return status;
    }

    /** Its content, cut at the limit should it have grown. */
    public byte[] read(int limitBytes) throws SyscallException {
        return Files.readAll(fd, limitBytes);
    }

    @Override
    public void close() {
        Fd.discard(fd);
    }
}
