package sonde.probe.heap;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import sonde.probe.heap.AllocatorPlaces.AllocatorPlace;
import sonde.probe.launch.InheritedState;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * The library that samples the blocks of a program from within, and counts all its calls in memory
 * that it shares with this process ({@code heap.c} has the layout).
 */
public final class HeapLibrary implements AutoCloseable {
    private static final int THREADS = 4096;
    private static final int COUNT_BYTES = 64;
    private static final Map<String, AllocatorCall> FUNCTIONS =
            Map.of(
                    "sonde_heap_made", AllocatorCall.SAMPLED,
                    "sonde_heap_freed", AllocatorCall.FREE);

    private final Path file;
    private final int shared;
    private final long interval;

    /**
     * What the library counted.
     *
     * @param loaded whether the program has loaded it
     * @param dropped samples for which there was no room
     */
    public record ExactCounts(
            boolean loaded, long dropped, long calls, long bytes, long frees, long failed) {}

    private HeapLibrary(Path file, int shared, long interval) {
        this.file = file;
        this.shared = shared;
        this.interval = interval;
    }

    /**
     * Makes the shared memory.
     *
     * @param file of the library
     * @param interval bytes between two samples on average; 1 for every block
     * @throws IOException where this build has no library
     */
    public static HeapLibrary open(Path file, long interval) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException(
                    file + " is not there: sonde was built without gcc; use --tier attached");
        }
        int shared = FileCalls.memfd("sonde-heap");
        HeapLibrary library = new HeapLibrary(file, shared, interval);
        Files.write(Path.of("/proc/self/fd/" + shared), new byte[COUNT_BYTES * (THREADS + 1)]);
        return library;
    }

    /** The state of a command that loads the library, before what the user has it load. */
    public InheritedState loading(InheritedState origin) {
        byte[] prefix = "LD_PRELOAD=".getBytes(StandardCharsets.UTF_8);
        String before =
                origin.environment().stream()
                        .map(variable -> new String(variable, StandardCharsets.UTF_8))
                        .filter(variable -> variable.startsWith("LD_PRELOAD="))
                        .map(variable -> ":" + variable.substring(prefix.length))
                        .findFirst()
                        .orElse("");
        return origin.withVariable("LD_PRELOAD", file + before)
                .withVariable(
                        "SONDE_HEAP",
                        "%d:/proc/%d/fd/%d".formatted(interval, ProcessCalls.getpid(), shared));
    }

    /** The library's file. */
    public Path file() {
        return file;
    }

    /** The functions that it calls for samples. */
    public List<AllocatorPlace> places() throws IOException {
        return AllocatorPlaces.of(file.toString(), FUNCTIONS, false);
    }

    /** What it has counted so far. */
    public ExactCounts counts() throws IOException {
        ByteBuffer all =
                ByteBuffer.wrap(Files.readAllBytes(Path.of("/proc/self/fd/" + shared)))
                        .order(ByteOrder.nativeOrder());
        long[] sums = new long[4];
        for (int at = COUNT_BYTES; at + COUNT_BYTES <= all.limit(); at += COUNT_BYTES) {
            for (int i = 0; i < sums.length; i++) {
                sums[i] += all.getLong(at + 8 * i);
            }
        }
        return new ExactCounts(
                all.getLong(0) != 0, all.getLong(16), sums[0], sums[1], sums[2], sums[3]);
    }

    @Override
    public void close() throws SyscallException {
        Fd.close(shared);
    }
}
