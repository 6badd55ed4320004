package sonde.probe.launch;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * What is made of a recording: a file or folder that only its owner may read, and that appears
 * whole or not at all. It is written in a {@link ScratchFolder} beside its place and renamed at the
 * end. Devices, pipes and what is named through /proc are written as they are.
 */
public final class PrivateOutput implements AutoCloseable {
    private static final Set<PosixFilePermission> OWN =
            PosixFilePermissions.fromString("rw-------");

    private final Path target;
    private final boolean replace;
    private final @Nullable ScratchFolder scratch;

    private PrivateOutput(Path target, boolean replace, @Nullable ScratchFolder scratch) {
        this.target = target;
        this.replace = replace;
        this.scratch = scratch;
    }

    /** What writes a file. */
    @FunctionalInterface
    public interface FileWriting<T> {
        /** Writes into the file, which may be there and empty. */
        T to(Path file) throws IOException;
    }

    /** What writes a stream. */
    @FunctionalInterface
    public interface StreamWriting {
        /** Writes; the stream stays open. */
        void to(OutputStream out) throws IOException;
    }

    /**
     * Writes a file or folder.
     *
     * @param replace whether a file of that name is replaced
     * @throws FileAlreadyExistsException when there is one that is not to be replaced
     */
    public static <T> T write(Path target, boolean replace, FileWriting<T> writing)
            throws IOException {
        try (PrivateOutput output = of(target, replace)) {
            try {
                T made = writing.to(output.path());
                output.keep();
                return made;
            } catch (IOException e) {
                throw output.explained(e);
            }
        }
    }

    /** As above, by a stream. */
    public static void stream(Path target, boolean replace, StreamWriting writing)
            throws IOException {
        write(
                target,
                replace,
                file -> {
                    try (OutputStream out = new BufferedOutputStream(open(file), 1 << 16)) {
                        writing.to(out);
                    }
                    return file;
                });
    }

    /** Opens a file for writing at once, over what was in it; a new one only its owner may read. */
    public static OutputStream open(Path file, OpenOption... more) throws IOException {
        Set<OpenOption> options = new HashSet<>(List.of(more));
        options.addAll(
                Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING));
        SeekableByteChannel channel =
                Files.newByteChannel(file, options, PosixFilePermissions.asFileAttribute(OWN));
        return Channels.newOutputStream(channel);
    }

    /** An output that is written and kept step by step, also several times. */
    public static PrivateOutput of(Path target, boolean replace) throws IOException {
        if (isSpecial(target)) {
            return new PrivateOutput(target, replace, null);
        }
        boolean there = Files.exists(target, LinkOption.NOFOLLOW_LINKS);
        if (there && !replace) {
            throw new FileAlreadyExistsException(target.toString());
        }
        if (there
                && Files.readAttributes(
                                target, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                        .isOther()) {
            return new PrivateOutput(target, true, null);
        }
        Path folder = folderOf(target);
        try {
            return new PrivateOutput(target, replace, ScratchFolder.in(folder, "part"));
        } catch (NoSuchFileException e) {
            throw new IOException(target + ": there is no folder " + folder, e);
        } catch (AccessDeniedException e) {
            throw new IOException(target + ": this user may not write into " + folder, e);
        }
    }

    /** Whether a name stands for something that is open or that is not a file. */
    public static boolean isSpecial(Path target) {
        Path whole = target.toAbsolutePath().normalize();
        return whole.startsWith("/dev") && !whole.startsWith("/dev/shm")
                || whole.startsWith("/proc");
    }

    private static Path folderOf(Path target) {
        Path folder = target.toAbsolutePath().getParent();
        return folder == null ? Path.of("/") : folder;
    }

    /** Where it is written. */
    public Path path() {
        ScratchFolder made = scratch;
        return made == null ? target : made.path().resolve("file");
    }

    /** Gives what was written its name. */
    public void keep() throws IOException {
        if (scratch == null) {
            return;
        }
        Path made = path();
        settle(made);
        if (replace) {
            Files.move(made, target, StandardCopyOption.REPLACE_EXISTING);
            return;
        }
        try {
            int here = FileCalls.AT_FDCWD;
            int flag = FileCalls.RENAME_NOREPLACE;
            FileCalls.renameat2(here, bytes(made), here, bytes(target), flag);
        } catch (SyscallException e) {
            if (e.errno() == Errno.EEXIST) {
                throw new FileAlreadyExistsException(target.toString());
            }
            Files.move(made, target); // a file system without that flag
        }
    }

    private static byte[] bytes(Path path) {
        return path.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Only the owner may read it, and a file mask may take more; it is given to who called sudo.
     */
    private static void settle(Path made) throws IOException {
        int mask = mask();
        OutputFolder.Caller caller = OutputFolder.Caller.find();
        try (Stream<Path> all = Files.walk(made)) {
            for (Path one : all.toList()) {
                int flags = FileCalls.O_RDONLY | FileCalls.O_NOFOLLOW | FileCalls.O_NONBLOCK;
                int fd = FileCalls.open(one.toString(), flags);
                try {
                    Fd.fchmod(fd, (Files.isDirectory(one) ? 0700 : 0600) & ~mask);
                    if (caller != null) {
                        Fd.fchown(fd, caller.uid(), caller.gid());
                    }
                } finally {
                    Fd.discard(fd);
                }
            }
        }
    }

    /** umask(2) by /proc/self/status, which has it since Linux 4.7. */
    private static int mask() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("Umask:")) {
                return Integer.parseInt(line.substring(6).strip(), 8) & 0777;
            }
        }
        return 077;
    }

    /** A failure, with what a full disk cost. */
    public IOException explained(IOException failure) {
        if (!isFull(failure)) {
            return failure;
        }
        String had = "";
        if (scratch != null) {
            try (Stream<Path> all = Files.walk(scratch.path())) {
                long sum =
                        all.filter(Files::isRegularFile).mapToLong(f -> f.toFile().length()).sum();
                had = String.format(" after %,d bytes, which are removed", sum);
            } catch (IOException e) {
                had = "";
            }
        }
        return new IOException(target + ": the disk is full" + had, failure);
    }

    /** Whether a file system had no room. */
    public static boolean isFull(IOException failure) {
        String text = String.valueOf(failure.getMessage());
        return failure instanceof SyscallException call && call.errno() == Errno.ENOSPC
                || text.contains("No space left on device")
                || text.contains("Disk quota exceeded");
    }

    @Override
    public void close() {
        if (scratch != null) {
            scratch.close();
        }
    }
}
