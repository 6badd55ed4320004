package sonde.sys;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32;

/**
 * A file named by a traced process, opened without trusting the name: what stands there may be a
 * FIFO that never answers, a device, a link out of the process's root, or terabytes of holes.
 *
 * <p>The name is resolved to an O_PATH descriptor (which opens nothing), looked at with statx, and
 * only a regular file within the size limit is opened and mapped. A file that shrinks while mapped
 * makes reads throw {@link InternalError}; copy what is needed and catch that at one place.
 */
public final class TargetFile implements AutoCloseable {
    private static final boolean ARM64 = System.getProperty("os.arch").equals("aarch64");
    private static final int OPENAT = ARM64 ? 56 : 257;
    private static final int OPENAT2 = 437;
    private static final int STATX = ARM64 ? 291 : 332;
    private static final int CLOSE = ARM64 ? 57 : 3;

    private static final int O_PATH = 010000000;
    private static final int O_CLOEXEC = 02000000;
    private static final int O_NOFOLLOW = ARM64 ? 0100000 : 0400000;
    private static final int O_DIRECTORY = ARM64 ? 040000 : 0200000;
    private static final int AT_FDCWD = -100;
    private static final int AT_EMPTY_PATH = 0x1000;

    /** linux/openat2.h: no links of /proc/PID/{exe,fd,root}; the root is that of the dir fd. */
    private static final int RESOLVE_NO_MAGICLINKS = 2;

    private static final int RESOLVE_IN_ROOT = 0x10;

    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int S_IFMT = 0170000;
    private static final int S_IFREG = 0100000;

    private final Arena arena;
    private final MemorySegment bytes;
    private final Status status;

    /**
     * What statx said of the file.
     *
     * @param device major in the upper, minor in the lower 32 bits
     * @param inode number in its file system
     * @param uid owner
     * @param sizeBytes size
     * @param modifiedNanos last change of the contents, since 1970
     */
    public record Status(long device, long inode, int uid, long sizeBytes, long modifiedNanos) {}

    private TargetFile(Arena arena, MemorySegment bytes, Status status) {
        this.arena = arena;
        this.bytes = bytes;
        this.status = status;
    }

    /**
     * Opens {@code path} as the process sees it whose root directory is {@code root}; symbolic
     * links cannot lead out of it.
     *
     * @param root {@code "/proc/PID/root"}
     * @param path absolute
     * @throws SyscallException when it does not exist, is no regular file (reported as ENOEXEC) or
     *     is larger than {@code maxBytes} (EFBIG)
     */
    public static TargetFile openIn(String root, String path, long maxBytes) throws IOException {
        int rootFd = open(AT_FDCWD, root, O_PATH | O_DIRECTORY, root);
        try {
            return ofPathFd(openInRoot(rootFd, path, root + path), root + path, maxBytes);
        } finally {
            Native.syscall(CLOSE, rootFd, 0, 0);
        }
    }

    /** {@link #openIn} in our own root; a link as the last part of the path is not followed. */
    public static TargetFile open(String path, long maxBytes) throws IOException {
        return ofPathFd(open(AT_FDCWD, path, O_PATH | O_NOFOLLOW, path), path, maxBytes);
    }

    /** {@link #open} for folders the user or the system gave: links are followed. */
    public static TargetFile openTrusted(String path, long maxBytes) throws IOException {
        return ofPathFd(open(AT_FDCWD, path, O_PATH, path), path, maxBytes);
    }

    /** The contents, valid until {@link #close}. */
    public MemorySegment bytes() {
        return bytes;
    }

    /** What the file was when it was opened. */
    public Status status() {
        return status;
    }

    /** CRC-32 (zlib's polynomial) of all contents. */
    public int crc32() {
        CRC32 crc = new CRC32();
        long piece = 1L << 30;
        for (long at = 0; at < bytes.byteSize(); at += piece) {
            crc.update(bytes.asSlice(at, Math.min(piece, bytes.byteSize() - at)).asByteBuffer());
        }
        return (int) crc.getValue();
    }

    @Override
    public void close() {
        arena.close();
    }

    private static int open(int dirFd, String path, int flags, String shown)
            throws SyscallException {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment name = cString(scratch, path, shown);
            return check(
                    "openat",
                    shown,
                    Native.syscall(OPENAT, dirFd, name.address(), flags | O_CLOEXEC));
        }
    }

    private static int openInRoot(int rootFd, String path, String shown) throws SyscallException {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment name = cString(scratch, path, shown);
            // struct open_how: flags, mode, resolve; 5.6
            MemorySegment how = scratch.allocate(24, 8);
            how.set(ValueLayout.JAVA_LONG, 0, O_PATH | O_NOFOLLOW | O_CLOEXEC);
            how.set(ValueLayout.JAVA_LONG, 16, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
            long result = Native.syscall(OPENAT2, rootFd, name.address(), how.address(), 24, 0, 0);
            if (result == -Errno.ENOSYS) {
                String relative = path.replaceFirst("^/+", "");
                return open(rootFd, relative, O_PATH | O_NOFOLLOW, shown);
            }
            return check("openat2", shown, result);
        }
    }

    private static TargetFile ofPathFd(int fd, String shown, long maxBytes) throws IOException {
        Arena arena = Arena.ofShared();
        boolean done = false;
        try {
            Status status = status(fd, shown);
            if (status.sizeBytes() > maxBytes) {
                throw new SyscallException("map", shown, 27);
            }
            Path reopened = Path.of("/proc/self/fd/" + fd);
            try (FileChannel channel = FileChannel.open(reopened, StandardOpenOption.READ)) {
                long size = Math.min(channel.size(), maxBytes);
                MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
                done = true;
                return new TargetFile(arena, bytes, status);
            }
        } finally {
            if (!done) {
                arena.close();
            }
            Native.syscall(CLOSE, fd, 0, 0);
        }
    }

    /** struct statx (linux/stat.h): the same on every architecture. */
    private static Status status(int fd, String shown) throws SyscallException {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment empty = scratch.allocate(1);
            MemorySegment statx = scratch.allocate(256, 8);
            check(
                    "statx",
                    shown,
                    Native.syscall(
                            STATX,
                            fd,
                            empty.address(),
                            AT_EMPTY_PATH,
                            STATX_BASIC_STATS,
                            statx.address(),
                            0));
            int mode = Short.toUnsignedInt(statx.get(ValueLayout.JAVA_SHORT, 28));
            if ((mode & S_IFMT) != S_IFREG) {
                throw new SyscallException("open", shown, Errno.ENOEXEC);
            }
            long seconds = statx.get(ValueLayout.JAVA_LONG, 112);
            int nanos = statx.get(ValueLayout.JAVA_INT, 120);
            long major = statx.get(ValueLayout.JAVA_INT, 136);
            return new Status(
                    major << 32 | Integer.toUnsignedLong(statx.get(ValueLayout.JAVA_INT, 140)),
                    statx.get(ValueLayout.JAVA_LONG, 32),
                    statx.get(ValueLayout.JAVA_INT, 20),
                    statx.get(ValueLayout.JAVA_LONG, 40),
                    seconds * 1_000_000_000L + nanos);
        }
    }

    private static MemorySegment cString(Arena arena, String path, String shown)
            throws SyscallException {
        byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
        if (path.indexOf('\0') >= 0 || bytes.length > 4095) {
            throw new SyscallException("openat", shown, Errno.EINVAL);
        }
        return arena.allocateFrom(path);
    }

    private static int check(String call, String shown, long result) throws SyscallException {
        if (result < 0) {
            throw new SyscallException(call, shown, (int) -result);
        }
        return (int) result;
    }
}
