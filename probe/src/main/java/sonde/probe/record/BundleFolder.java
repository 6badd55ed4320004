package sonde.probe.record;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import sonde.recording.bundle.MetaWriter;
import sonde.recording.bundle.RecordingMeta;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * The opened folder of a bundle. Files are made and opened relative to its descriptor, never
 * through a link, so that nobody can put another folder in its place.
 */
public final class BundleFolder implements AutoCloseable {
    /** Kept free for the last meta.json, also when the disk is full. */
    private static final long RESERVE_BYTES = 256 << 10;

    private static final String RESERVE = "reserve";
    private static final String NEW_META = "meta.json.new";
    private static final int MAX_FILE = 64 << 20;

    private final int fd;

    /**
     * @param fd an open directory; closed by {@link #close}
     */
    public BundleFolder(int fd) {
        this.fd = fd;
    }

    /** Opens a folder that exists. */
    public static BundleFolder open(String path) throws SyscallException {
        return new BundleFolder(
                FileCalls.open(
                        path, FileCalls.O_RDONLY | FileCalls.O_DIRECTORY | FileCalls.O_NOFOLLOW));
    }

    /** Makes a file for writing and reading, 0600; EEXIST when the name is taken. */
    int create(String name) throws SyscallException {
        int flags = FileCalls.O_RDWR | FileCalls.O_CREAT | FileCalls.O_EXCL | FileCalls.O_NOFOLLOW;
        return FileCalls.openat(fd, bytes(name), flags, 0600);
    }

    /** Opens a regular file of the bundle. */
    int open(String name, int access) throws SyscallException {
        int file =
                FileCalls.openat(
                        fd, bytes(name), access | FileCalls.O_NOFOLLOW | FileCalls.O_NONBLOCK, 0);
        if (!FileCalls.fstat(file).isRegular()) {
            Fd.discard(file);
            throw new SyscallException("openat", name + ": no regular file", Errno.EINVAL);
        }
        return file;
    }

    /** Where the folder is now. */
    Path path() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd));
    }

    /** A channel over a descriptor of ours; the descriptor stays open beside it. */
    static FileChannel channel(int file, OpenOption... options) throws IOException {
        return FileChannel.open(Path.of("/proc/self/fd/" + file), Set.of(options));
    }

    /** A channel for reading a file of the bundle. */
    FileChannel reader(String name) throws IOException {
        int file = open(name, FileCalls.O_RDONLY);
        try {
            return channel(file, StandardOpenOption.READ);
        } finally {
            Fd.discard(file);
        }
    }

    /** The whole of a small file. */
    byte[] read(String name) throws SyscallException {
        int file = open(name, FileCalls.O_RDONLY);
        try {
            return FileCalls.readAll(file, MAX_FILE);
        } finally {
            Fd.discard(file);
        }
    }

    /** Bytes of a file; -1 when it is not there. */
    long sizeBytes(String name) {
        try {
            return FileCalls.statx(fd, bytes(name), FileCalls.AT_SYMLINK_NOFOLLOW).sizeBytes();
        } catch (SyscallException e) {
            return -1;
        }
    }

    /** Removes a file; one that is not there is fine. */
    void remove(String name) throws SyscallException {
        try {
            FileCalls.unlinkat(fd, bytes(name), 0);
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
    }

    /** Renames within the folder, replacing what has the name. */
    void rename(String from, String to) throws SyscallException {
        FileCalls.renameat2(fd, bytes(from), fd, bytes(to), 0);
    }

    /** Puts space aside for {@link #writeMeta} on a full disk. */
    void reserve() throws SyscallException {
        int file = create(RESERVE);
        try {
            Fd.fallocate(file, 0, 0, RESERVE_BYTES);
        } catch (SyscallException e) {
            // A file system without fallocate, or already full: then without a reserve.
            remove(RESERVE);
        } finally {
            Fd.discard(file);
        }
    }

    /** Gives the reserve back to the file system. */
    void releaseReserve() throws SyscallException {
        remove(RESERVE);
    }

    /** Replaces meta.json: a reader sees the old one or the new one, never a part. */
    void writeMeta(RecordingMeta meta) throws SyscallException {
        byte[] text = MetaWriter.write(meta);
        remove(NEW_META);
        int file = create(NEW_META);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(text.length);
            MemorySegment.copy(text, 0, bytes, ValueLayout.JAVA_BYTE, 0, text.length);
            Fd.writeFully(file, bytes);
        } catch (SyscallException e) {
            remove(NEW_META);
            throw e;
        } finally {
            Fd.discard(file);
        }
        rename(NEW_META, RecordingMeta.FILE);
    }

    private static byte[] bytes(String name) {
        if (name.isEmpty() || name.indexOf('/') >= 0 || name.equals("..") || name.equals(".")) {
            throw new IllegalArgumentException("file name " + name);
        }
        return name.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        Fd.discard(fd);
    }
}
