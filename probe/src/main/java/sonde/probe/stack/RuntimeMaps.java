package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;

/** What programs that walk frames of run times share: files with an interpreter, threads, code. */
final class RuntimeMaps implements AutoCloseable {
    private static final int MOST_FILES = 256;
    private static final int MOST_THREADS = 1 << 14;
    private static final int MOST_OBJECTS = 1 << 15;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final BpfMap reports;
    private final BpfMap files;
    private final BpfMap threads;
    private final BpfMap objects;
    private final Map<Integer, PythonLayout> layouts = new ConcurrentHashMap<>();

    /**
     * Empty maps.
     *
     * @param reports ring into which objects are reported; the caller's
     */
    RuntimeMaps(BpfMap reports) throws IOException {
        this.reports = reports;
        try {
            files = made("sonde_uw_py", MapType.HASH, 4, 8 * PythonLayout.FIELDS, MOST_FILES);
            threads = made("sonde_uw_thread", MapType.LRU_HASH, 8, 24, MOST_THREADS);
            objects =
                    made(
                            "sonde_uw_object",
                            MapType.LRU_HASH,
                            RuntimeScratch.OBJECT_BYTES,
                            8,
                            MOST_OBJECTS);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private BpfMap made(String name, MapType type, int keyBytes, int valueBytes, int most)
            throws IOException {
        BpfMap map = BpfMap.create(new MapSpec(name, type, keyBytes, valueBytes, most));
        parts.push(map);
        return map;
    }

    /** u32 number of a file (its first piece) to the fields of its Python. */
    BpfMap files() {
        return files;
    }

    /** u64 pid and tid to the thread's state, the address of the run time, when it was found. */
    BpfMap threads() {
        return threads;
    }

    /** Objects to the time of their last report. */
    BpfMap objects() {
        return objects;
    }

    BpfMap reports() {
        return reports;
    }

    /** A file with an interpreter of Python. */
    void add(int fileNumber, PythonLayout layout) throws IOException {
        layouts.put(fileNumber, layout);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocateFrom(JAVA_INT, fileNumber);
            long[] fields = layout.programFields();
            files.put(key, arena.allocateFrom(ValueLayout.JAVA_LONG, fields));
        }
    }

    /** The layout of a file's Python; null when it has none. */
    @Nullable PythonLayout layout(int fileNumber) {
        return layouts.get(fileNumber);
    }

    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
