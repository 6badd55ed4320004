package sonde.probe.stack;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Frame;
import sonde.symbol.RuntimeFrames;

/**
 * The frames of run times that stacks have: gives each (process, object, position) an address for
 * call chains, and keeps what it means as lines of {@link RuntimeFrames#FILE}. An object is read
 * when it is first seen, for its process may end. By any thread.
 */
final class RuntimeNames {
    private static final int MOST_OBJECTS = 1 << 18;
    private static final int MOST_WANTED = 1 << 12;
    private static final long AGAIN_NANOS = 250_000_000;

    private final Map<ObjectKey, KnownObject> objects = new HashMap<>();
    private final Map<RunTimeKind, ObjectReader> readers = new EnumMap<>(RunTimeKind.class);
    private final Deque<ObjectKey> wanted = new ArrayDeque<>();
    private final StringBuilder lines = new StringBuilder();
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
        final Map<Integer, Integer> numbers = new HashMap<>();
        @Nullable RuntimeObject content;
        long wantedNanos;
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
            full |= objects.size() >= MOST_OBJECTS;
            if (full) {
                return RuntimeFrames.address(RuntimeFrames.UNKNOWN);
            }
            known = new KnownObject();
            objects.put(key, known);
        }
        want(key, known);
        Integer number = known.numbers.get(RuntimeWord.position(word));
        if (number == null) {
            if (numbers >= RuntimeFrames.MOST - 1) {
                return RuntimeFrames.address(RuntimeFrames.UNKNOWN);
            }
            number = ++numbers;
            known.numbers.put(RuntimeWord.position(word), number);
            if (known.content != null) {
                line(number, RuntimeWord.position(word), known.content);
            }
        }
        return RuntimeFrames.address(number);
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
            known.numbers.forEach((position, number) -> line(number, position, content));
        } else if (known == null ? objects.size() < MOST_OBJECTS : !content.equals(known.content)) {
            KnownObject fresh = new KnownObject();
            fresh.content = content;
            fresh.wantedNanos = System.nanoTime();
            objects.put(key, fresh);
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

    private void line(int number, int position, RuntimeObject content) {
        RuntimeFrames.append(lines, number, content.frames(position), content.firstLine());
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

    /** How many addresses have no name, and why, in sentences. */
    synchronized List<String> notes() {
        List<String> notes = new ArrayList<>();
        long nameless =
                objects.values().stream()
                        .filter(known -> known.content == null)
                        .mapToLong(known -> known.numbers.size())
                        .sum();
        if (nameless > 0) {
            notes.add(
                    nameless
                            + " places in functions of Python, Java or JavaScript have no names:"
                            + " their memory could not be read");
        }
        if (full) {
            notes.add("frames of run times are named up to " + MOST_OBJECTS + " functions");
        }
        return notes;
    }
}
