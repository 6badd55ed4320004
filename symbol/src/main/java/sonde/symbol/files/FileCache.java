package sonde.symbol.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.sys.ProcessCalls;
import sonde.sys.TargetFile;

/**
 * Files that one user's processes keep for each other: {@code $XDG_CACHE_HOME/sonde/FOLDER/NAME}.
 * They are written beside and renamed, so that others see the whole or nothing; folder and files
 * must be the user's own and writable by nobody else.
 */
public final class FileCache {
    private static final long MOST_FILE_BYTES = Integer.MAX_VALUE;
    private static final long DAY_MILLIS = 86_400_000;
    private static final long HOUR_MILLIS = 3_600_000;

    private final Path folder;
    private final CacheKind kind;

    private FileCache(Path folder, CacheKind kind) {
        this.folder = folder;
        this.kind = kind;
    }

    /**
     * What is kept.
     *
     * @param folder name of the folder
     * @param ending of the files' names
     * @param mostBytes all that is kept; beyond, what was not used for longest goes
     */
    public record CacheKind(String folder, String ending, long mostBytes) {}

    /** The user's; null when there is no folder that may be used. */
    public static @Nullable FileCache ofUser(CacheKind kind) {
        String set = System.getenv("XDG_CACHE_HOME");
        List<Path> roots = new ArrayList<>();
        if (set != null && set.startsWith("/")) {
            roots.add(Path.of(set));
        } else if (ProcessCalls.geteuid() == 0) {
            // As the launcher does: root's are not in a folder that sudo's user may write.
            roots.add(Path.of("/var/cache"));
        } else {
            roots.add(Path.of(System.getProperty("user.home"), ".cache"));
        }
        return of(roots.getFirst().resolve("sonde").resolve(kind.folder()), kind);
    }

    /** In a folder, made if need be; null when it may not be used. */
    public static @Nullable FileCache of(Path folder, CacheKind kind) {
        try {
            if (!Files.isDirectory(folder)) {
                Set<PosixFilePermission> own = PosixFilePermissions.fromString("rwx------");
                Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(own));
            }
            Set<PosixFilePermission> allowed =
                    Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS);
            boolean shared =
                    allowed.contains(PosixFilePermission.GROUP_WRITE)
                            || allowed.contains(PosixFilePermission.OTHERS_WRITE);
            Object owner = Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            boolean own = owner instanceof Integer uid && uid == ProcessCalls.geteuid();
            return own && !shared ? new FileCache(folder, kind) : null;
        } catch (IOException | RuntimeException e) {
            return null; // a file system that is read-only or full, or a home that is not there
        }
    }

    /** What is kept by a name, open; null when there is nothing, or it is not ours. */
    public @Nullable TargetFile find(String name) {
        Path path = path(name);
        TargetFile file;
        try {
            file = TargetFile.open(path.toString(), MOST_FILE_BYTES);
        } catch (IOException e) {
            return null;
        }
        if (file.status().uid() == ProcessCalls.geteuid() && (file.status().mode() & 0022) == 0) {
            touch(path, file.status().modifiedNanos() / 1_000_000);
            return file;
        }
        file.close();
        return null;
    }

    private Path path(String name) {
        return folder.resolve(name + kind.ending());
    }

    private static void touch(Path path, long modifiedMillis) {
        long now = System.currentTimeMillis();
        if (now - modifiedMillis > DAY_MILLIS) {
            try {
                Files.setLastModifiedTime(path, FileTime.fromMillis(now));
            } catch (IOException e) {
                return; // it only goes sooner
            }
        }
    }

    /** Takes away what is damaged: somebody wrote into it, or the disk did. */
    public void remove(String name) {
        try {
            Files.deleteIfExists(path(name));
        } catch (IOException e) {
            return; // it stays and is not used
        }
    }

    /** Keeps bytes; where that fails they are made again next time. */
    public void keep(String name, ByteBuffer bytes) {
        try {
            shrink(bytes.capacity());
            Set<PosixFilePermission> own = PosixFilePermissions.fromString("rw-------");
            Path written =
                    Files.createTempFile(
                            folder, "new-", ".tmp", PosixFilePermissions.asFileAttribute(own));
            try {
                write(written, bytes);
                Files.move(
                        written,
                        path(name),
                        StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(written);
            }
        } catch (IOException | RuntimeException e) {
            return;
        }
    }

    private static void write(Path file, ByteBuffer buffer) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            int piece = 1 << 20;
            for (int at = 0; at < buffer.capacity(); at += piece) {
                // In pieces: the JDK copies what it writes from the heap in one piece.
                ByteBuffer part = buffer.slice(at, Math.min(piece, buffer.capacity() - at));
                while (part.hasRemaining()) {
                    channel.write(part);
                }
            }
        }
    }

    /** Makes room, and takes away what writers left that were killed. */
    private void shrink(long neededBytes) throws IOException {
        record KeptFile(Path file, long sizeBytes, long usedMillis) {}
        List<KeptFile> all = new ArrayList<>();
        long now = System.currentTimeMillis();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                String name = String.valueOf(file.getFileName());
                long used = Files.getLastModifiedTime(file).toMillis();
                if (name.endsWith(kind.ending())) {
                    all.add(new KeptFile(file, Files.size(file), used));
                } else if (name.endsWith(".tmp") && now - used > HOUR_MILLIS) {
                    Files.deleteIfExists(file);
                }
            }
        }
        all.sort(Comparator.comparingLong(KeptFile::usedMillis));
        long total = neededBytes;
        for (KeptFile one : all) {
            total += one.sizeBytes;
        }
        for (KeptFile one : all) {
            if (total <= kind.mostBytes()) {
                return;
            }
            Files.deleteIfExists(one.file);
            total -= one.sizeBytes;
        }
    }
}
