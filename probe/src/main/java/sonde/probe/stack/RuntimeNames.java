package sonde.probe.stack;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Frame;
import sonde.symbol.RuntimeFrames;
import sonde.symbol.RuntimeSymbolFile;

/**
 * The frames of run times that stacks have: gives each (process, object, position) an address for
 * call chains, and keeps what it means as lines of {@link RuntimeFrames#FILE}. An object is read
 * when it is first seen, for its process may end. By any thread.
 */
final class RuntimeNames {
    private static final int MOST_SOURCES = 64;
    private static final int MOST_SCRIPTS = 1 << 10;
    private static final int MOST_PROCESSES = 1 << 16;
    private static final int MOST_WANTED = 1 << 12;
    private static final long AGAIN_NANOS = 250_000_000;

    private final Map<ObjectKey, KnownObject> objects = new HashMap<>();
    private final Map<RunTimeKind, ObjectReader> readers = new EnumMap<>(RunTimeKind.class);
    private final Deque<ObjectKey> wanted = new ArrayDeque<>();
    private final Map<Integer, Map<Long, int[]>> sources = new HashMap<>();
    private final StringBuilder lines = new StringBuilder();
    private final Map<Integer, String> functions = new TreeMap<>();
    private final Map<Integer, Long> processes = new HashMap<>();
    private final BitSet told = new BitSet();
    private final RuntimeMaps maps;
    private int numbers;
    private boolean full;

    /** Those of the files in {@code maps}. */
    RuntimeNames(RuntimeMaps maps) {
        this.maps = maps;
    }

    /** Those of processes that use the tables. */
    static RuntimeNames of(UnwindTables tables) {
        RuntimeNames names = new RuntimeNames(tables.runtimes());
        names.reader(RuntimeWord.COMPILED_JAVA, tables.jvms()::code);
        names.reader(RuntimeWord.JAVA, tables.jvms()::method);
        return names;
    }

    /** Run times that need a reader. */
    private enum RunTimeKind {
        COMPILED_JAVA,
        PYTHON,
        JAVA,
        JAVASCRIPT
    }

    /**
     * An object of a process.
     *
     * @param word {@link RuntimeWord} with position 0
     */
    private record ObjectKey(int pid, long word) {}

    /** What is known of an object; another one at the same place is another. */
    private static final class KnownObject {
        final int number;
        final Set<Integer> places = new HashSet<>();
        @Nullable RuntimeObject content;
        long wantedNanos;

        KnownObject(int number) {
            this.number = number;
        }
    }

    /** Reads an object that was met in a stack from the memory of its process. */
    interface ObjectReader {
        /** Null when it cannot be read, or is none. */
        @Nullable RuntimeObject read(int pid, long object);
    }

    /** Objects of a kind of {@link RuntimeWord} are read by this, when their words are met. */
    synchronized void reader(int kind, ObjectReader reader) {
        readers.put(RunTimeKind.values()[kind], reader);
    }

    /** The address that stands for a word; the name behind it may come later. */
    synchronized long address(int pid, long word) {
        ObjectKey key = new ObjectKey(pid, word & ~RuntimeWord.NO_POSITION);
        KnownObject known = objects.get(key);
        if (known == null) {
            known = fresh(key, null);
            if (known == null) {
                return RuntimeFrames.address(RuntimeFrames.UNKNOWN, 0);
            }
        }
        want(key, known);
        int place = RuntimeWord.position(word);
        if (known.places.add(place) && known.content != null) {
            line(known, place, known.content);
        }
        return RuntimeFrames.address(known.number, place);
    }

    /** Takes the place of what had the key; null when there are too many. */
    private @Nullable KnownObject fresh(ObjectKey key, @Nullable RuntimeObject content) {
        full |= numbers >= RuntimeFrames.MOST - 1;
        if (full) {
            return null;
        }
        KnownObject fresh = new KnownObject(++numbers);
        fresh.content = content;
        objects.put(key, fresh);
        return fresh;
    }

    /** An object is read at first sight, and again: code is freed, and its place used again. */
    private void want(ObjectKey key, KnownObject known) {
        long now = System.nanoTime();
        boolean isDue = known.wantedNanos == 0 || now - known.wantedNanos > AGAIN_NANOS;
        if (isDue
                && readers.containsKey(RunTimeKind.values()[RuntimeWord.kind(key.word)])
                && wanted.size() < MOST_WANTED) {
            known.wantedNanos = now;
            wanted.add(key);
        }
    }

    /** An object was read; one that differs from what was known took its place. */
    synchronized void put(int pid, int kind, long object, RuntimeObject content) {
        ObjectKey key = new ObjectKey(pid, RuntimeWord.of(kind, object, 0));
        KnownObject known = objects.get(key);
        if (known != null && known.content == null) {
            known.content = content;
            known.places.forEach(place -> line(known, place, content));
        } else if (known == null || !content.equals(known.content)) {
            KnownObject fresh = fresh(key, content);
            if (fresh != null) {
                fresh.wantedNanos = System.nanoTime();
            }
        }
    }

    /** A report of the kernel's program ({@link PythonReport}). */
    void reported(MemorySegment report) {
        PythonLayout layout =
                maps.layout(report.get(ValueLayout.JAVA_INT_UNALIGNED, PythonReport.FILE_NUMBER));
        int pid = report.get(ValueLayout.JAVA_INT_UNALIGNED, 8);
        RuntimeObject content =
                layout == null
                        ? null
                        : PythonFunction.of(
                                report, layout, (at, bytes) -> ProcessBytes.read(pid, at, bytes));
        if (content != null) {
            long object = report.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
            put(pid, report.get(ValueLayout.JAVA_INT_UNALIGNED, 12), object, content);
        }
    }

    /** Ends of lines of a process's scripts; those of a few processes are remembered. */
    private Map<Long, int[]> sources(int pid) {
        if (sources.size() > MOST_SOURCES
                || sources.values().stream().mapToInt(Map::size).sum() > MOST_SCRIPTS) {
            sources.clear();
        }
        return sources.computeIfAbsent(pid, _ -> new HashMap<>());
    }

    /** A report of a function of JavaScript: its key, u64 number of the file, u64 address. */
    void scriptReported(MemorySegment report) {
        ScriptLayout layout =
                maps.script(
                        report.get(ValueLayout.JAVA_INT_UNALIGNED, RuntimeScratch.OBJECT_BYTES));
        int pid = report.get(ValueLayout.JAVA_INT_UNALIGNED, 8);
        RuntimeObject content =
                layout == null
                        ? null
                        : new JavaScriptFunction.ScriptReader(
                                        layout,
                                        (at, bytes) -> ProcessBytes.read(pid, at, bytes),
                                        sources(pid))
                                .read(
                                        report.get(
                                                ValueLayout.JAVA_LONG_UNALIGNED,
                                                RuntimeScratch.OBJECT_BYTES + 8));
        if (content != null) {
            long object = report.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
            put(pid, report.get(ValueLayout.JAVA_INT_UNALIGNED, 12), object, content);
        }
    }

    private void line(KnownObject known, int place, RuntimeObject content) {
        List<Frame> frames = content.frames(place);
        long address = RuntimeFrames.address(known.number, place);
        RuntimeFrames.append(lines, address, frames, content.firstLine());
        functions.putIfAbsent(known.number, frames.getLast().name());
    }

    /** Reads objects that were met and have a reader; by the thread that reads. */
    void readWanted() {
        for (ObjectKey key = next(); key != null; key = next()) {
            read(key.pid, key.word);
        }
    }

    /** Reads the object of a word. */
    void read(int pid, long word) {
        ObjectReader reader;
        synchronized (this) {
            reader = readers.get(RunTimeKind.values()[RuntimeWord.kind(word)]);
        }
        long object = RuntimeWord.object(word);
        RuntimeObject content = reader == null ? null : reader.read(pid, object);
        if (content != null) {
            put(pid, RuntimeWord.kind(word), object, content);
        }
    }

    private synchronized @Nullable ObjectKey next() {
        return wanted.poll();
    }

    /** The frames of a word, innermost first; empty when the object is not known. */
    synchronized List<Frame> frames(int pid, long word) {
        KnownObject known = objects.get(new ObjectKey(pid, word & ~RuntimeWord.NO_POSITION));
        return known == null || known.content == null
                ? List.of()
                : known.content.frames(RuntimeWord.position(word));
    }

    /** The lines since the last time. */
    synchronized byte[] takeLines() {
        byte[] taken = lines.toString().getBytes(StandardCharsets.UTF_8);
        lines.setLength(0);
        return taken;
    }

    /**
     * A stack of a process has frames of run times.
     *
     * @param nanos time of the stack's sample
     */
    synchronized void met(int pid, long nanos) {
        if (processes.size() < MOST_PROCESSES && !told.get(pid)) {
            processes.merge(pid, nanos, Math::min);
        }
    }

    /** Processes that have such frames since the last time, and when first. */
    synchronized Map<Integer, Long> takeProcesses() {
        Map<Integer, Long> taken = Map.copyOf(processes);
        processes.clear();
        taken.keySet().forEach(told::set);
        return taken;
    }

    /** An ELF file that names the addresses, for other programs; empty without any. */
    synchronized byte[] symbolFile() {
        return functions.isEmpty() ? new byte[0] : RuntimeSymbolFile.of(functions);
    }

    /** How many addresses have no name, and why, in sentences. */
    synchronized List<String> notes() {
        List<String> notes = new ArrayList<>();
        long nameless =
                objects.values().stream()
                        .filter(known -> known.content == null)
                        .mapToLong(known -> known.places.size())
                        .sum();
        if (nameless > 0) {
            notes.add(
                    nameless
                            + " places in functions of Python, Java or JavaScript have no names:"
                            + " their memory could not be read");
        }
        if (full) {
            notes.add("frames of run times are named up to " + RuntimeFrames.MOST + " functions");
        }
        return notes;
    }
}
