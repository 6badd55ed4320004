package sonde.binary;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Room on a disk that nobody else sees: a file with mode 0600 in the folder for large temporary
 * files, without a name from the start, so that the kernel frees it however the process ends.
 */
public final class UnnamedFile {
    private static final Path LARGE = Path.of("/var/tmp");

    private UnnamedFile() {}

    /** Opens one for reading and writing; it lives as long as the channel and its mappings. */
    public static FileChannel open() throws IOException {
        Path path =
                Files.isWritable(LARGE)
                        ? Files.createTempFile(LARGE, "sonde", null)
                        : Files.createTempFile("sonde", null);
        try {
            return FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } finally {
            Files.delete(path);
        }
    }
}
