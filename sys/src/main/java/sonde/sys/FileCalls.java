package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Calls that name a file. Names are bytes, as the kernel keeps them; the {@code String} forms
 * encode in UTF-8. {@code dirFd} is an open directory or {@link #AT_FDCWD}.
 */
public final class FileCalls {
    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 1;
    public static final int O_RDWR = 2;
    public static final int O_CREAT = 0100;
    public static final int O_EXCL = 0200;
    public static final int O_NOCTTY = 0400;
    public static final int O_TRUNC = 01000;
    public static final int O_APPEND = 02000;
    public static final int O_NONBLOCK = 04000;
    public static final int O_CLOEXEC = 02000000;
    public static final int O_PATH = 010000000;

    /** Differ by architecture: include/uapi/asm-generic/fcntl.h, arch/arm64/.../fcntl.h. */
    public static final int O_DIRECTORY = Arch.current() == Arch.AARCH64 ? 040000 : 0200000;

    public static final int O_NOFOLLOW = Arch.current() == Arch.AARCH64 ? 0100000 : 0400000;

    public static final int AT_FDCWD = -100;
    public static final int AT_SYMLINK_NOFOLLOW = 0x100;
    public static final int AT_REMOVEDIR = 0x200;
    public static final int AT_EACCESS = 0x200;
    public static final int AT_EMPTY_PATH = 0x1000;

    /** Flag of renameat2: fail with EEXIST instead of replacing. */
    public static final int RENAME_NOREPLACE = 1;

    /** Modes of faccessat2. */
    public static final int X_OK = 1;

    public static final int W_OK = 2;
    public static final int F_OK = 0;
    public static final int R_OK = 4;

    private static final long RESOLVE_NO_MAGICLINKS = 2;
    private static final long RESOLVE_IN_ROOT = 16;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int PATH_MAX = 4096;

    private static final int OPENAT = SyscallNames.number("openat");
    private static final int OPENAT2 = SyscallNames.number("openat2");
    private static final int STATX = SyscallNames.number("statx");
    private static final int MKDIRAT = SyscallNames.number("mkdirat");
    private static final int MKNODAT = SyscallNames.number("mknodat");
    private static final int UNLINKAT = SyscallNames.number("unlinkat");
    private static final int RENAMEAT2 = SyscallNames.number("renameat2");
    private static final int READLINKAT = SyscallNames.number("readlinkat");
    private static final int FACCESSAT2 = SyscallNames.number("faccessat2");
    private static final int STATFS = SyscallNames.number("statfs");
    private static final int MEMFD_CREATE = SyscallNames.number("memfd_create");

    private FileCalls() {}

    /** Opens for reading or writing; O_CLOEXEC is always added. */
    public static int open(String path, int flags) throws SyscallException {
        return openat(AT_FDCWD, bytes(path), flags, 0);
    }

    /** Opens, making the file with {@code mode} when O_CREAT is given; O_CLOEXEC is added. */
    public static int open(String path, int flags, int mode) throws SyscallException {
        return openat(AT_FDCWD, bytes(path), flags, mode);
    }

    /** Opens a name relative to a directory; O_CLOEXEC is added. EINTR (a FIFO) is retried. */
    public static int openat(int dirFd, byte[] path, int flags, int mode) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = SyscallResults.cString(arena, path);
            long result;
            do {
                result =
                        NativeSyscall.syscall(
                                OPENAT, dirFd, name.address(), flags | O_CLOEXEC, mode, 0, 0);
            } while (result == -Errno.EINTR);
            return (int) SyscallResults.check("openat", path, result);
        }
    }

    /**
     * Opens a path as if {@code rootFd} were the root directory: absolute links and {@code ..} stay
     * below it, links of /proc that lead elsewhere are refused. Linux 5.6; before that ENOSYS.
     */
    public static int openInRoot(int rootFd, byte[] path, int flags) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = SyscallResults.cString(arena, path);
            // struct open_how: u64 flags, mode, resolve.
            MemorySegment how = arena.allocate(24, 8);
            how.set(JAVA_LONG, 0, flags | O_CLOEXEC);
            how.set(JAVA_LONG, 16, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
            long result;
            int attempts = 0;
            do {
                // EAGAIN: something on the way was renamed meanwhile.
                result =
                        NativeSyscall.syscall(
                                OPENAT2, rootFd, name.address(), how.address(), 24, 0, 0);
            } while (result == -Errno.EINTR || result == -Errno.EAGAIN && attempts++ < 32);
            return (int) SyscallResults.check("openat2", path, result);
        }
    }

    /** The file's status; {@code flags}: AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH. */
    public static FileStatus statx(int dirFd, byte[] path, int flags) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = SyscallResults.cString(arena, path);
            MemorySegment status = arena.allocate(FileStatus.SIZE, 8);
            SyscallResults.check(
                    "statx",
                    path,
                    NativeSyscall.syscall(
                            STATX,
                            dirFd,
                            name.address(),
                            flags,
                            STATX_BASIC_STATS,
                            status.address(),
                            0));
            return FileStatus.of(status);
        }
    }

    /** The status of an open file. */
    public static FileStatus fstat(int fd) throws SyscallException {
        return statx(fd, new byte[0], AT_EMPTY_PATH);
    }

    /** The status of a path, following links. */
    public static FileStatus stat(String path) throws SyscallException {
        return statx(AT_FDCWD, bytes(path), 0);
    }

    /** Makes a directory. */
    public static void mkdirat(int dirFd, byte[] path, int mode) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = SyscallResults.cString(arena, path);
            SyscallResults.check(
                    "mkdirat", path, NativeSyscall.syscall(MKDIRAT, dirFd, name.address(), mode));
        }
    }

    /** Makes a FIFO. */
    public static void mkfifoat(int dirFd, byte[] path, int mode) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = SyscallResults.cString(arena, path);
            SyscallResults.check(
                    "mknodat",
                    path,
                    NativeSyscall.syscall(
                            MKNODAT, dirFd, name.address(), FileStatus.S_IFIFO | mode, 0, 0, 0));
        }
    }

    /** Removes a file, or with AT_REMOVEDIR an empty directory. */
    public static void unlinkat(int dirFd, byte[] path, int flags) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = SyscallResults.cString(arena, path);
            SyscallResults.check(
                    "unlinkat",
                    path,
                    NativeSyscall.syscall(UNLINKAT, dirFd, name.address(), flags));
        }
    }

    /** Renames; {@code flags} 0 or RENAME_NOREPLACE. */
    public static void renameat2(int fromDir, byte[] from, int toDir, byte[] to, int flags)
            throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment oldName = SyscallResults.cString(arena, from);
            MemorySegment newName = SyscallResults.cString(arena, to);
            long result =
                    NativeSyscall.syscall(
                            RENAMEAT2,
                            fromDir,
                            oldName.address(),
                            toDir,
                            newName.address(),
                            flags,
                            0);
            SyscallResults.check(
                    "renameat2",
                    SyscallResults.text(from) + " to " + SyscallResults.text(to),
                    result);
        }
    }

    /** The target of a symbolic link, at most 4096 bytes. */
    public static byte[] readlinkat(int dirFd, byte[] path) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = SyscallResults.cString(arena, path);
            MemorySegment target = arena.allocate(PATH_MAX);
            long length =
                    NativeSyscall.syscall(
                            READLINKAT, dirFd, name.address(), target.address(), PATH_MAX, 0, 0);
            SyscallResults.check("readlinkat", path, length);
            return target.asSlice(0, length).toArray(JAVA_BYTE);
        }
    }

    /** Asks with the effective ids whether access is granted: 0, or the positive errno. */
    public static int access(int dirFd, byte[] path, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = SyscallResults.cString(arena, path);
            return (int)
                    -NativeSyscall.syscall(
                            FACCESSAT2, dirFd, name.address(), mode, AT_EACCESS, 0, 0);
        }
    }

    /** The file system that holds a path. */
    public static FsStatus statfs(String path) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = SyscallResults.cString(arena, bytes(path));
            MemorySegment status = arena.allocate(FsStatus.SIZE, 8);
            long result;
            do {
                result = NativeSyscall.syscall(STATFS, name.address(), status.address(), 0);
            } while (result == -Errno.EINTR);
            SyscallResults.check("statfs", path, result);
            return FsStatus.of(status);
        }
    }

    /** Makes a nameless file in memory, with O_CLOEXEC set. */
    public static int memfd(String name) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment label = SyscallResults.cString(arena, bytes(name));
            long result = NativeSyscall.syscall(MEMFD_CREATE, label.address(), 1, 0);
            return (int) SyscallResults.check("memfd_create", name, result);
        }
    }

    /**
     * Reads a whole file, which may lie in /proc or sysfs and state no size.
     *
     * @param limitBytes read no more than this; a longer file is cut there
     */
    public static byte[] readAll(int fd, int limitBytes) throws SyscallException {
        byte[] all = new byte[Math.min(limitBytes, 4096)];
        int length = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment chunk = arena.allocate(Math.min(limitBytes, 65536L));
            while (length < limitBytes) {
                MemorySegment into =
                        chunk.asSlice(0, Math.min(chunk.byteSize(), (long) limitBytes - length));
                int count = (int) Fd.read(fd, into);
                if (count <= 0) {
                    break;
                }
                if (length + count > all.length) {
                    int size = Math.max(length + count, (int) Math.min(limitBytes, 2L * length));
                    all = Arrays.copyOf(all, size);
                }
                MemorySegment.copy(chunk, JAVA_BYTE, 0, all, length, count);
                length += count;
            }
        }
        return Arrays.copyOf(all, length);
    }

    /** Opens, reads at most {@code limitBytes} and closes. */
    public static byte[] readAll(String path, int limitBytes) throws SyscallException {
        int fd = open(path, O_RDONLY);
        try {
            return readAll(fd, limitBytes);
        } finally {
            Fd.discard(fd);
        }
    }

    private static byte[] bytes(String path) {
        return path.getBytes(StandardCharsets.UTF_8);
    }
}
