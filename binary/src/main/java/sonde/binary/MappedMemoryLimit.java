package sonde.binary;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.sys.MemoryMappings;

/**
 * Keeps the process from holding all of large files. Pages that were read stay in a process's
 * mapping until the kernel wants them back, and count as its memory; here they are given back when
 * they are many. They stay in the page cache: what is read again is found there.
 */
final class MappedMemoryLimit {
    /** Mappings below this size are left alone. */
    private static final long LARGE_BYTES = 1L << 28;

    /** Mapped bytes in memory (RssFile of proc(5)) from which on pages are given back. */
    private static final long MOST_BYTES = 1L << 30;

    private static final int PAUSE_MILLIS = 50;

    private static final List<MemorySegment> MAPPED = new ArrayList<>();
    private static @Nullable Thread watcher;

    private MappedMemoryLimit() {}

    /** A file was mapped. */
    static void add(MemorySegment mapped) {
        if (mapped.byteSize() < LARGE_BYTES) {
            return;
        }
        synchronized (MAPPED) {
            MAPPED.add(mapped);
            long sum = MAPPED.stream().mapToLong(MemorySegment::byteSize).sum();
            if (watcher == null && sum > MOST_BYTES) {
                watcher =
                        Thread.ofPlatform()
                                .daemon()
                                .name("resident")
                                .start(MappedMemoryLimit::watch);
            }
        }
    }

    /** It will be unmapped. */
    static void remove(MemorySegment mapped) {
        synchronized (MAPPED) {
            MAPPED.removeIf(one -> one.address() == mapped.address());
        }
    }

    private static void watch() {
        try {
            while (true) {
                Thread.sleep(PAUSE_MILLIS);
                long held = fileBytes();
                // The lock keeps a mapping from ending, and its addresses from being used anew.
                synchronized (MAPPED) {
                    if (MAPPED.isEmpty()) {
                        watcher = null;
                        return;
                    }
                    if (held > MOST_BYTES) {
                        for (MemorySegment mapped : MAPPED) {
                            MemoryMappings.advise(mapped, MemoryMappings.MADV_DONTNEED);
                        }
                    }
                }
            }
        } catch (InterruptedException | IOException e) {
            synchronized (MAPPED) {
                watcher = null; // without it only more memory is held
            }
        }
    }

    private static long fileBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("RssFile:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
            }
        }
        throw new IOException("no RssFile");
    }
}
