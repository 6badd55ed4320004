package sonde.testkit.guest;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The guest's first file system: busybox, modules and {@code init.sh}, as a cpio archive in the
 * "newc" form of Documentation/driver-api/early-userspace/buffer-format.rst, not compressed.
 */
final class Initramfs {
    private static final int DIRECTORY = 0040755;
    private static final int PROGRAM = 0100755;
    private static final List<String> DIRECTORIES =
            List.of("bin", "modules", "proc", "dev", "host", "rw", "root");

    private final OutputStream out;
    private int inode = 1;
    private long written;

    private Initramfs(OutputStream out) {
        this.out = out;
    }

    static void write(Path file, Path busybox, Path modules) throws IOException {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file));
                InputStream init =
                        Objects.requireNonNull(Initramfs.class.getResourceAsStream("init.sh"));
                Stream<Path> list = Files.list(modules)) {
            Initramfs archive = new Initramfs(out);
            for (String directory : DIRECTORIES) {
                archive.entry(directory, DIRECTORY, new byte[0]);
            }
            archive.entry("bin/busybox", PROGRAM, Files.readAllBytes(busybox));
            archive.entry("init", PROGRAM, init.readAllBytes());
            for (Path module : list.sorted().toList()) {
                archive.entry(
                        "modules/" + module.getFileName(), PROGRAM, Files.readAllBytes(module));
            }
            archive.entry("TRAILER!!!", 0, new byte[0]);
        }
    }

    private void entry(String name, int mode, byte[] content) throws IOException {
        int links = 1;
        // magic, then thirteen numbers of eight hexadecimal digits: inode, mode, uid, gid, links,
        // mtime, size, device major and minor, rdev major and minor, name size, checksum.
        String header =
                "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X"
                        .formatted(
                                inode++,
                                mode,
                                0,
                                0,
                                links,
                                0,
                                content.length,
                                0,
                                0,
                                0,
                                0,
                                name.length() + 1,
                                0);
        put(header.getBytes(StandardCharsets.US_ASCII));
        put((name + "\0").getBytes(StandardCharsets.US_ASCII));
        pad();
        put(content);
        pad();
    }

    private void put(byte[] bytes) throws IOException {
        out.write(bytes);
        written += bytes.length;
    }

    private void pad() throws IOException {
        put(new byte[(int) (-written & 3)]);
    }
}
