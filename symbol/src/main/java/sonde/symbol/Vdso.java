package sonde.symbol;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The kernel's page of user code, read from our own memory: it is the same for all processes. */
final class Vdso {
    private static final int SIZE_LIMIT = 1 << 20;

    private Vdso() {}

    /** The ELF image; empty where it cannot be read. */
    static Optional<byte[]> ofThisProcess() {
        try {
            // paths in maps need not be UTF-8
            String maps = Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1);
            for (String line : maps.split("\n")) {
                if (line.endsWith(" [vdso]")) {
                    int dash = line.indexOf('-');
                    long start = Long.parseUnsignedLong(line, 0, dash, 16);
                    long end = Long.parseUnsignedLong(line, dash + 1, line.indexOf(' '), 16);
                    return Optional.of(read(start, end));
                }
            }
        } catch (IOException e) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    private static byte[] read(long start, long end) throws IOException {
        byte[] bytes = new byte[(int) Math.min(end - start, SIZE_LIMIT)];
        try (RandomAccessFile memory = new RandomAccessFile("/proc/self/mem", "r")) {
            memory.seek(start);
            memory.readFully(bytes);
        }
        return bytes;
    }
}
