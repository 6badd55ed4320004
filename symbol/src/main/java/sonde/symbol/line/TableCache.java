package sonde.symbol.line;

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
 * Tables on disk, a file each by build-id: {@code $XDG_CACHE_HOME/sonde/symbols/ID.lines}. They are
 * written beside and renamed, so that others see the whole or nothing; folder and files must be the
 * user's own and writable by nobody else.
 */
final class TableCache {
    /** All that is kept; beyond, what was not used for longest goes. */
    private static final long MOST_BYTES = 2L << 30;

    private static final long MOST_FILE_BYTES = Integer.MAX_VALUE;

    private static final long DAY_MILLIS = 86_400_000;
    private static final long HOUR_MILLIS = 3_600_000;
    private static final String ENDING = ".lines";

    private final Path folder;

    private TableCache(Path folder) {
        this.folder = folder;
    }

    /** The user's; null when there is no folder that may be used. */
    static @Nullable TableCache ofUser() {
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
        return of(roots.getFirst().resolve("sonde").resolve("symbols"));
    }

    /** In a folder, made if need be; null when it may not be used. */
    static @Nullable TableCache of(Path folder) {
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
            return own && !shared ? new TableCache(folder) : null;
        } catch (IOException | RuntimeException e) {
            return null; // a file system that is read-only or full, or a home that is not there
        }
    }

    /** Tables of a file, open. */
    record CachedTables(TargetFile file, LineTables tables) {}

    /** What is kept for a build-id; null when there is nothing, or it is damaged or not ours. */
    @Nullable CachedTables find(String buildId, long fingerprint) {
        Path path = folder.resolve(buildId + ENDING);
        TargetFile file;
        try {
            file = TargetFile.open(path.toString(), MOST_FILE_BYTES);
        } catch (IOException e) {
            return null;
        }
        try {
            if (file.status().uid() == ProcessCalls.geteuid()
                    && (file.status().mode() & 0022) == 0) {
                LineTables tables = LineTables.of(file.bytes().asByteBuffer(), fingerprint);
                touch(path, file.status().modifiedNanos() / 1_000_000);
                return new CachedTables(file, tables);
            }
        } catch (IOException | InternalError e) {
            // Somebody wrote into it, or the disk did: it is made again.
            remove(path);
        }
        file.close();
        return null;
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

    private static void remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            return; // it stays and is not used
        }
    }

    /** Keeps tables; where that fails they are made again next time. */
    void keep(String buildId, LineTables tables) {
        ByteBuffer bytes = tables.bytes();
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
                        folder.resolve(buildId + ENDING),
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
                if (name.endsWith(ENDING)) {
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
            if (total <= MOST_BYTES) {
                return;
            }
            Files.deleteIfExists(one.file);
            total -= one.sizeBytes;
        }
    }
}
