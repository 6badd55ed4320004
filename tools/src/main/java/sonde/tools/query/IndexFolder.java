package sonde.tools.query;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.recording.bundle.RecordingMeta;
import sonde.symbol.files.Debuginfod;
import sonde.symbol.files.GivenPlaces;

/**
 * Where tables of recordings are kept: {@code index/} in a bundle, else the user's cache folder.
 * The name of the inner folder says which bytes and which decoder they are of.
 */
final class IndexFolder {
    /** To be raised whenever tables of the same file would differ. */
    private static final String DECODER = "4";

    private static final int HASHED_BYTES = 1 << 16;

    /** All that lies in the user's cache folder; beyond, the oldest go. */
    private static final long MAX_BYTES = 4L << 30;

    private IndexFolder() {}

    /**
     * The folder, made if need be; null when these files cannot have one, or names are taken from
     * files of the user.
     */
    static @Nullable Path of(List<Path> recordings, GivenPlaces given) {
        if (given.hasFiles()) {
            return null;
        }
        try {
            List<Path> files = new ArrayList<>();
            for (Path recording : recordings) {
                files.addAll(parts(recording));
            }
            String servers =
                    given.servers().map(Debuginfod::servers).map(List::toString).orElse("");
            String key = key(files, servers);
            if (recordings.size() == 1 && Files.isDirectory(recordings.getFirst())) {
                Path index = recordings.getFirst().resolve("index");
                return prepared(index, key, 0);
            }
            return prepared(caches(), key, MAX_BYTES);
        } catch (IOException | RuntimeException e) {
            return null; // a pipe, a folder that may not be written: there is no index
        }
    }

    private static List<Path> parts(Path recording) throws IOException {
        if (Files.isRegularFile(recording)) {
            return List.of(recording);
        }
        if (!Files.isRegularFile(recording.resolve(RecordingMeta.FILE))) {
            throw new IOException("no file");
        }
        try (Stream<Path> files = Files.list(recording)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static Path caches() {
        // As launcher/sonde.sh does: root's are not in a folder that sudo's user may write.
        if (Files.isWritable(Path.of("/proc/1/mem"))) {
            return Path.of("/var/cache/sonde/index");
        }
        String set = System.getenv("XDG_CACHE_HOME");
        Path home = Path.of(System.getProperty("user.home"), ".cache");
        Path root = set == null || set.isEmpty() ? home : Path.of(set);
        return root.resolve("sonde").resolve("index");
    }

    private static String key(List<Path> files, String servers) throws IOException {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IOException(e);
        }
        add(digest, DECODER);
        add(digest, servers);
        for (Path file : files) {
            add(digest, String.valueOf(Files.getAttribute(file, "unix:ino")));
            add(
                    digest,
                    String.valueOf(
                            Files.getLastModifiedTime(file)
                                    .to(java.util.concurrent.TimeUnit.NANOSECONDS)));
            long size = Files.size(file);
            add(digest, Long.toString(size));
            try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
                byte[] bytes = new byte[(int) Math.min(HASHED_BYTES, size)];
                in.readFully(bytes);
                digest.update(bytes);
                in.seek(size - bytes.length);
                in.readFully(bytes);
                digest.update(bytes);
            }
        }
        return HexFormat.of().formatHex(digest.digest(), 0, 12);
    }

    private static void add(MessageDigest digest, String part) {
        digest.update((part + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Other keys' folders of a bundle go; of a cache the oldest until the rest is small enough. */
    private static @Nullable Path prepared(Path parent, String key, long mostBytes)
            throws IOException {
        Set<PosixFilePermission> own = PosixFilePermissions.fromString("rwx------");
        if (!Files.isDirectory(parent)) {
            Files.createDirectories(parent, PosixFilePermissions.asFileAttribute(own));
        }
        Set<PosixFilePermission> others =
                Files.getPosixFilePermissions(parent, LinkOption.NOFOLLOW_LINKS);
        boolean shared =
                others.contains(PosixFilePermission.GROUP_WRITE)
                        || others.contains(PosixFilePermission.OTHERS_WRITE);
        Object owner = Files.getAttribute(parent, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        Object self = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        if (shared || !owner.equals(self)) {
            return null;
        }
        Path folder = parent.resolve(key);
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(own));
        }
        Files.setLastModifiedTime(folder, FileTime.fromMillis(System.currentTimeMillis()));
        shrink(parent, folder, mostBytes);
        return folder;
    }

    private static void shrink(Path parent, Path keep, long mostBytes) throws IOException {
        record Old(Path folder, long sizeBytes, FileTime used) {}
        List<Old> all = new ArrayList<>();
        long sum = 0;
        try (Stream<Path> folders = Files.list(parent)) {
            for (Path folder : folders.filter(path -> !path.equals(keep)).toList()) {
                Old old = new Old(folder, bytes(folder), Files.getLastModifiedTime(folder));
                all.add(old);
                sum += old.sizeBytes;
            }
        }
        all.sort(Comparator.comparing(Old::used));
        for (Old old : all) {
            if (sum > mostBytes || mostBytes == 0) {
                delete(old.folder);
                sum -= old.sizeBytes;
            }
        }
    }

    private static long bytes(Path folder) throws IOException {
        long sum = 0;
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                sum += Files.size(file);
            }
        }
        return sum;
    }

    /** Removes a folder and what is in it. */
    private static void delete(Path folder) throws IOException {
        try (Stream<Path> left = Files.walk(folder)) {
            for (Path file : left.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
