package sonde.sys;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A file whose name comes from a traced process, opened without trusting the name: what stands
 * there may be a FIFO that never answers, a device, a link out of the process's root, or terabytes
 * of holes.
 *
 * <p>The name is resolved to an O_PATH descriptor, which opens nothing (opening a tape or a
 * watchdog already does something), looked at with statx, and only a regular file within the size
 * limit is opened. A file that shrinks while {@link #bytes mapped} makes reads throw {@link
 * InternalError}; copy what is needed and catch that at one place.
 */
public final class TargetFile implements AutoCloseable {
    private final int fd;
    private final String shown;
    private final FileStatus status;
    private final long maxBytes;
    private final Arena arena = Arena.ofShared();
    private @Nullable MemorySegment mapped;
    private boolean closed;

    private TargetFile(int fd, String shown, FileStatus status, long maxBytes) {
        this.fd = fd;
        this.shown = shown;
        this.status = status;
        this.maxBytes = maxBytes;
    }

    /**
     * Opens {@code path} as the process sees it whose root directory is {@code root}; symbolic
     * links on the way cannot lead out of it, one as the last part is not followed.
     *
     * @param root {@code "/proc/PID/root"}
     * @param path absolute
     * @throws IOException when it does not exist, is no regular file or has more bytes
     */
    public static TargetFile openIn(String root, String path, long maxBytes) throws IOException {
        return openIn(root, path.getBytes(StandardCharsets.UTF_8), maxBytes);
    }

    /** {@link #openIn(String, String, long)} of a name of any bytes. */
    public static TargetFile openIn(String root, byte[] path, long maxBytes) throws IOException {
        String name = root + new String(path, StandardCharsets.UTF_8);
        if (path.length == 0 || path[0] != '/') {
            throw new IOException(name + ": not an absolute path");
        }
        int rootFd = FileCalls.open(root, FileCalls.O_PATH | FileCalls.O_DIRECTORY);
        try {
            return of(handle(rootFd, root, path), name, maxBytes);
        } finally {
            Fd.discard(rootFd);
        }
    }

    private static int handle(int rootFd, String root, byte[] path) throws SyscallException {
        int flags = FileCalls.O_PATH | FileCalls.O_NOFOLLOW;
        try {
            return FileCalls.openInRoot(rootFd, path, flags);
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOSYS) {
                throw e;
            }
            // Before Linux 5.6: absolute links on the way lead into our own root; what is opened
            // is a regular file in any case.
            byte[] folder = root.getBytes(StandardCharsets.UTF_8);
            byte[] full = Arrays.copyOf(folder, folder.length + path.length);
            System.arraycopy(path, 0, full, folder.length, path.length);
            return FileCalls.openat(FileCalls.AT_FDCWD, full, flags, 0);
        }
    }

    /** {@link #openIn} in our own root. */
    public static TargetFile open(String path, long maxBytes) throws IOException {
        return of(FileCalls.open(path, FileCalls.O_PATH | FileCalls.O_NOFOLLOW), path, maxBytes);
    }

    /** {@link #open} for folders the user or the system gave: links are followed. */
    public static TargetFile openTrusted(String path, long maxBytes) throws IOException {
        return of(FileCalls.open(path, FileCalls.O_PATH), path, maxBytes);
    }

    /** Opens a name in an open directory. */
    public static TargetFile openat(int dirFd, byte[] name, long maxBytes) throws IOException {
        int handle = FileCalls.openat(dirFd, name, FileCalls.O_PATH | FileCalls.O_NOFOLLOW, 0);
        return of(handle, new String(name, StandardCharsets.UTF_8), maxBytes);
    }

    private static TargetFile of(int handle, String shown, long maxBytes) throws IOException {
        try {
            FileStatus status = FileCalls.fstat(handle);
            if (!status.isRegular()) {
                throw new IOException(shown + ": " + status.kind() + ", not a regular file");
            }
            if (status.sizeBytes() > maxBytes) {
                throw new IOException(
                        shown
                                + ": "
                                + status.sizeBytes()
                                + " bytes, more than the "
                                + maxBytes
                                + " that are read");
            }
            int flags = FileCalls.O_RDONLY | FileCalls.O_NONBLOCK | FileCalls.O_NOCTTY;
            return new TargetFile(
                    FileCalls.open("/proc/self/fd/" + handle, flags), shown, status, maxBytes);
        } finally {
            Fd.discard(handle);
        }
    }

    /**
     * The contents, mapped when first asked for and valid until {@link #close}.
     *
     * @throws IOException when they cannot be mapped: files of /sys and /proc, or no address space
     */
    public synchronized MemorySegment bytes() throws IOException {
        MemorySegment known = mapped;
        if (known != null) {
            return known;
        }
        Path again = Path.of("/proc/self/fd/" + fd);
        try (FileChannel channel = FileChannel.open(again, StandardOpenOption.READ)) {
            long size = Math.min(channel.size(), maxBytes);
            MemorySegment all = channel.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
            mapped = all;
            return all;
        } catch (IOException e) {
            throw new IOException(shown + ": " + e.getMessage(), e);
        } catch (OutOfMemoryError e) { // what map throws when mmap(2) says ENOMEM twice
            throw new IOException(shown + ": no address space is left for it", e);
        }
    }

    /** A path that leads to this very file as long as it is open, whatever its name now means. */
    public String link() {
        return "/proc/self/fd/" + fd;
    }

    /** A copy of the contents, cut at the limit should it have grown. */
    public byte[] read(int limitBytes) throws SyscallException {
        return FileCalls.readAll(fd, limitBytes);
    }

    /** What the file was when it was opened. */
    public FileStatus status() {
        return status;
    }

    /** CRC-32 (zlib's polynomial) of all contents. */
    public int crc32() throws IOException {
        MemorySegment all = bytes();
        CRC32 crc = new CRC32();
        long piece = 1L << 30;
        for (long at = 0; at < all.byteSize(); at += piece) {
            crc.update(all.asSlice(at, Math.min(piece, all.byteSize() - at)).asByteBuffer());
        }
        return (int) crc.getValue();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            arena.close();
            Fd.discard(fd);
        }
    }
}
