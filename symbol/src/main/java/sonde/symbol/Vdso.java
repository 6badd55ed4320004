package sonde.symbol;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Optional;
import sonde.sys.MappedRange;
import sonde.sys.ProcessCalls;

/** The kernel's page of user code, read from our own memory: it is the same for all processes. */
public final class Vdso {
    private static final int SIZE_LIMIT = 1 << 20;

    private Vdso() {}

    /** The ELF image; empty where it cannot be read. */
    public static Optional<byte[]> ofThisProcess() {
        try {
            for (MappedRange range : MappedRange.of(ProcessCalls.getpid())) {
                if (range.path().equals("[vdso]")) {
                    return Optional.of(read(range.start(), range.end()));
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
