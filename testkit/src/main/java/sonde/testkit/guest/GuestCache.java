package sonde.testkit.guest;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Kernels and the JVM of guests, made once: {@code $XDG_CACHE_HOME/sonde/guest/}, by default below
 * {@code ~/.cache}. Everything in it can be deleted.
 */
final class GuestCache {
    /**
     * The road to 9p and overlayfs, in loading order; what a kernel has built in is absent from its
     * package. virtio before virtio_ring fails with an unknown symbol.
     */
    private static final List<String> MODULES =
            List.of(
                    "virtio_ring",
                    "virtio",
                    "virtio_pci_modern_dev",
                    "virtio_pci_legacy_dev",
                    "virtio_pci",
                    "netfs",
                    "fscache",
                    "9pnet",
                    "9pnet_virtio",
                    "9p",
                    "overlay");

    /** What tests, JUnit and AssertJ need of the JDK. */
    private static final String JDK_MODULES =
            "java.base,java.desktop,java.instrument,java.logging,java.management,java.naming,"
                    + "java.sql,java.xml,jdk.attach,jdk.httpserver,jdk.jcmd,jdk.management,"
                    + "jdk.unsupported,jdk.zipfs";

    private static final int FETCH_SECONDS = 180;

    /** Within this JVM, where a second lock of the file is an exception instead of a wait. */
    private static final ReentrantLock MAKING = new ReentrantLock();

    private final Path folder;

    GuestCache() throws IOException {
        this(userCache());
    }

    GuestCache(Path root) throws IOException {
        folder = Files.createDirectories(root.resolve("sonde/guest"));
    }

    private static Path userCache() {
        String base = System.getenv("XDG_CACHE_HOME");
        return base == null || base.isEmpty()
                ? Path.of(System.getProperty("user.home"), ".cache")
                : Path.of(base);
    }

    Path folder() {
        return folder;
    }

    /** Folder with {@code vmlinuz} and {@code modules/NN-name.ko}. */
    Path kernel(GuestKernel kernel) throws IOException, InterruptedException {
        return once(
                kernel.debianPackage() + "_" + kernel.version(),
                into -> {
                    Path deb = download(kernel, into);
                    unpack(deb, into);
                    Files.delete(deb);
                });
    }

    /** Folder with {@code lib/modules/RELEASE} whole, for modprobe(8). */
    Path modules(GuestKernel kernel) throws IOException, InterruptedException {
        return once(
                "modules-" + kernel.debianPackage() + "_" + kernel.version(),
                into -> {
                    Path deb = download(kernel, into);
                    Commands.run(
                            FETCH_SECONDS,
                            into,
                            "sh",
                            "-c",
                            "dpkg-deb --fsys-tarfile '"
                                    + deb
                                    + "' | tar -x --wildcards './lib/modules/*'");
                    Files.delete(deb);
                    Commands.run(
                            FETCH_SECONDS, into, "depmod", "-b", into.toString(), kernel.release());
                });
    }

    /** A JVM image of the modules that tests need, linked from the running JDK. */
    Path java() throws IOException, InterruptedException {
        Path jdk = Path.of(System.getProperty("java.home"));
        return once(
                "jre-" + Runtime.version().toString().replaceAll("[^\\w.+-]", "_"),
                into -> {
                    Path image = into.resolve("image");
                    Commands.run(
                            FETCH_SECONDS,
                            into,
                            jdk.resolve("bin/jlink").toString(),
                            "--add-modules",
                            JDK_MODULES,
                            "--strip-debug",
                            "--no-header-files",
                            "--no-man-pages",
                            "--output",
                            image.toString());
                    // A linked image has no class data archive; without one a start takes twice
                    // as long.
                    Commands.run(
                            FETCH_SECONDS,
                            into,
                            image.resolve("bin/java").toString(),
                            "-XX:+UseSerialGC",
                            "-Xshare:dump");
                });
    }

    /** What fills an empty folder with what is to be kept. */
    interface Maker {
        void make(Path into) throws IOException, InterruptedException;
    }

    /** Makes a folder under a lock, in a place beside it, and moves it there when it is whole. */
    Path once(String name, Maker maker) throws IOException, InterruptedException {
        MAKING.lockInterruptibly();
        try {
            return lockedOnce(name, maker);
        } finally {
            MAKING.unlock();
        }
    }

    private Path lockedOnce(String name, Maker maker) throws IOException, InterruptedException {
        Path made = folder.resolve(name);
        try (FileChannel file =
                        FileChannel.open(
                                folder.resolve("lock"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.WRITE);
                FileLock lock = file.lock()) {
            if (lock.isValid() && Files.isDirectory(made)) {
                return made;
            }
            Path part = Files.createTempDirectory(folder, "part-");
            try {
                maker.make(part);
                Files.move(part, made);
            } finally {
                deleteTree(part);
            }
            return made;
        }
    }

    private static Path download(GuestKernel kernel, Path into)
            throws IOException, InterruptedException {
        String wanted = kernel.debianPackage() + "=" + kernel.version();
        try {
            Commands.run(FETCH_SECONDS, into, "apt-get", "-q", "download", wanted);
        } catch (IOException e) {
            throw new IOException(
                    "cannot fetch "
                            + wanted
                            + ". If Debian has dropped this version, pin the current one in"
                            + " testkit/src/main/resources/sonde/testkit/guest/kernels.properties"
                            + " (how: see there); if the package lists are old, run apt-get"
                            + " update. "
                            + e.getMessage(),
                    e);
        }
        try (Stream<Path> files = Files.list(into)) {
            Path deb = files.filter(f -> f.toString().endsWith(".deb")).findFirst().orElseThrow();
            String found = sha256(deb);
            if (!found.equals(kernel.sha256())) {
                throw new IOException(
                        wanted + " has SHA-256 " + found + ", pinned is " + kernel.sha256());
            }
            return deb;
        }
    }

    private static String sha256(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] buffer = new byte[1 << 20];
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                digest.update(buffer, 0, count);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void unpack(Path deb, Path into) throws IOException, InterruptedException {
        Path tree = Files.createDirectory(into.resolve("tree"));
        // dpkg-deb and tar, as the archive is compressed with xz; only what is needed comes out.
        StringBuilder wanted = new StringBuilder("'./boot/vmlinuz*'");
        for (String module : MODULES) {
            wanted.append(" '*/").append(module).append(".ko*'");
        }
        // tar complains about modules that are built in.
        Commands.run(
                FETCH_SECONDS,
                tree,
                "sh",
                "-c",
                "dpkg-deb --fsys-tarfile '" + deb + "' | tar -x --wildcards " + wanted + " || :");
        Path modules = Files.createDirectory(into.resolve("modules"));
        List<Path> files;
        try (Stream<Path> walk = Files.walk(tree)) {
            files = walk.filter(Files::isRegularFile).toList();
        }
        for (Path file : files) {
            String name = file.getFileName().toString();
            if (name.startsWith("vmlinuz")) {
                Files.move(file, into.resolve("vmlinuz"));
                continue;
            }
            if (name.endsWith(".xz")) {
                Commands.run(FETCH_SECONDS, tree, "xz", "-d", file.toString());
            }
            String module = name.substring(0, name.indexOf(".ko"));
            Path plain = file.resolveSibling(module + ".ko");
            String order = "%02d-".formatted(MODULES.indexOf(module));
            Files.move(plain, modules.resolve(order + module + ".ko"));
        }
        deleteTree(tree);
        if (!Files.exists(into.resolve("vmlinuz"))) {
            throw new IOException(deb.getFileName() + " holds no boot/vmlinuz");
        }
    }

    static void deleteTree(Path root) throws IOException {
        if (!Files.exists(root)) {
            return;
        }
        List<Path> paths;
        try (Stream<Path> walk = Files.walk(root)) {
            paths = walk.sorted(java.util.Comparator.reverseOrder()).toList();
        }
        for (Path path : paths) {
            Files.deleteIfExists(path);
        }
    }
}
