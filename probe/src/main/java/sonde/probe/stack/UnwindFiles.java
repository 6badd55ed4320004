package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.binary.unwind.CompactRule;
import sonde.binary.unwind.CompactUnwindTable;
import sonde.probe.stack.UnwindTables.UnwoundFile;
import sonde.symbol.Vdso;
import sonde.symbol.files.FileCache;
import sonde.symbol.files.FileCache.CacheKind;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/** Makes the tables of files: of running processes, and of those that the kernel reports. */
final class UnwindFiles {
    private static final UnwoundFile VDSO = new UnwoundFile(0, UnwindTables.VDSO_DEVICE, 0);
    private static final long MOST_BYTES = 4L << 30;
    private static final long QUICK_BYTES = 32L << 20;
    private static final int MOST_WANTED = 1000;

    /** Tables that were made before. */
    private final @Nullable FileCache cache =
            FileCache.ofUser(new CacheKind("unwind", ".rows", 256L << 20));

    private final UnwindTables tables;
    private final Set<UnwoundFile> made = new HashSet<>();
    private final List<String> notes = new ArrayList<>();
    private final Set<List<Number>> mapped = new HashSet<>();
    private final Map<List<Number>, UnwoundFile> keys = new ConcurrentHashMap<>();
    private final Map<List<Number>, String> paths = new ConcurrentHashMap<>();
    private final Queue<WantedFile> wanted = new LinkedBlockingQueue<>(MOST_WANTED);
    private boolean full;

    UnwindFiles(UnwindTables tables) {
        this.tables = tables;
    }

    /** The table of the vdso, which is the same for all processes. */
    synchronized void vdso() throws IOException {
        Optional<byte[]> image = Vdso.ofThisProcess();
        if (image.isPresent()) {
            add(VDSO, CompactUnwindTable.of(ElfFile.of(image.get())));
        }
    }

    /** The tables of all files that a process has mapped as code; one that is gone has none. */
    void process(int pid) {
        unread(pid).forEach(this::file);
    }

    /** Paths of files that a process has mapped as code and that no process had before. */
    List<String> unread(int pid) {
        try {
            return MappedRange.of(pid).stream()
                    .filter(range ->
                            range.isExecutable()
                                    && range.inode() != 0
                                    && mapped.add(
                                            List.of(range.major(), range.minor(), range.inode())))
                    .map(range -> mapping(pid, range.start(), range.end()))
                    .toList();
        } catch (SyscallException e) {
            return List.of();
        }
    }

    private static String mapping(long pid, long start, long end) {
        return "/proc/%d/map_files/%x-%x".formatted(pid, start, end);
    }

    /**
     * The tables of a program that is about to be started, and of the libraries and the loader that
     * its headers name, where they are in the usual folders.
     *
     * @param words of the command; programs among the first of them count, too, since the first may
     *     start another one (timeout, taskset, env)
     */
    void command(List<String> words) {
        List<String> all = ProgramFiles.of(words);
        // Many stacks wait for those that take a millisecond, and some for the one of a second.
        all.sort(Comparator.comparingLong(path -> new File(path).length()));
        all.forEach(this::file);
    }

    /** The table of a file; one that cannot be read has none, and null is returned. */
    synchronized @Nullable UnwoundFile file(String path) {
        try (TargetFile file = TargetFile.openTrusted(path, MOST_BYTES)) {
            UnwoundFile key = key(file.status());
            add(key, file);
            keep(file, key);
            return key;
        } catch (IOException e) {
            return null; // its frames are followed by the frame pointer
        }
    }

    /** A file that the kernel's program has met; null where the process was gone. */
    record ReportedFile(UnwoundFile key, @Nullable TargetFile file) implements AutoCloseable {
        @Override
        public void close() {
            if (file != null) {
                file.close();
            }
        }
    }

    /** Opens the file of a report (struct as {@link UnwindTables#REPORT_BYTES} has it). */
    ReportedFile open(MemorySegment report) {
        UnwoundFile key =
                new UnwoundFile(
                        report.get(JAVA_LONG_UNALIGNED, 0),
                        report.get(JAVA_INT_UNALIGNED, 8),
                        report.get(JAVA_INT_UNALIGNED, 12));
        long pid = report.get(JAVA_LONG_UNALIGNED, UnwindTables.KEY_BYTES);
        long start = report.get(JAVA_LONG_UNALIGNED, UnwindTables.KEY_BYTES + 8);
        long end = report.get(JAVA_LONG_UNALIGNED, UnwindTables.KEY_BYTES + 16);
        try {
            return new ReportedFile(
                    key, TargetFile.openTrusted(mapping(pid, start, end), MOST_BYTES));
        } catch (IOException e) {
            return new ReportedFile(key, null);
        }
    }

    /** Makes the table of a reported file. */
    synchronized void reported(ReportedFile one) throws IOException {
        UnwoundFile key = one.key();
        TargetFile file = one.file();
        if (made.contains(key)) {
            // It was made, or forgotten, while the report was on its way.
            tables.restore(key);
            return;
        }
        try {
            if (file != null) {
                add(key, file);
                keep(file, key);
                return;
            }
        } catch (IOException e) {
            // As one that could not be opened.
        }
        forget(key);
    }

    /** Another process that maps the file reports it again. */
    void forget(UnwoundFile key) throws SyscallException {
        tables.forget(key);
    }

    /**
     * The rule at a place in a mapping of a process.
     *
     * @param offset in the file
     * @param waits whether a table that is missing is made now; else the maker is asked for it
     * @return null when there is no table yet
     */
    @Nullable Integer rule(int pid, MappedRange range, long offset, boolean waits) {
        if (range.path().equals("[vdso]")) {
            return tables.find(VDSO, offset - range.offset());
        }
        List<Number> id = List.of(range.major(), range.minor(), range.inode());
        UnwoundFile key = keys.get(id);
        if (key == null && range.inode() != 0) {
            if (!waits && !isQuick(range)) {
                wanted.offer(new WantedFile(pid, range));
                return null;
            }
            key = make(pid, range);
        }
        return key == null ? CompactRule.NONE : tables.find(key, offset);
    }

    /** Whether the table is made sooner than the process or the file may be gone. */
    private static boolean isQuick(MappedRange range) {
        try {
            return Files.size(Path.of(range.path())) <= QUICK_BYTES;
        } catch (IOException | InvalidPathException e) {
            return true;
        }
    }

    private void keep(TargetFile file, UnwoundFile key) throws IOException {
        FileStatus status = file.status();
        List<Number> id = List.of(status.deviceMajor(), status.deviceMinor(), status.inode());
        keys.put(id, key);
        paths.put(id, path(file));
    }

    private static String path(TargetFile file) throws IOException {
        byte[] link = file.link().getBytes(StandardCharsets.UTF_8);
        byte[] path = FileCalls.readlinkat(FileCalls.AT_FDCWD, link);
        return new String(path, StandardCharsets.UTF_8);
    }

    /** The path from our root of a mapped file that has a table; empty for none. */
    String path(MappedRange range) {
        List<Number> id = List.of(range.major(), range.minor(), range.inode());
        return paths.getOrDefault(id, "");
    }

    private record WantedFile(int pid, MappedRange range) {}

    /** Makes the tables that {@link #rule} lacked. */
    void makeWanted() {
        for (WantedFile one = wanted.poll(); one != null; one = wanted.poll()) {
            MappedRange range = one.range();
            if (!keys.containsKey(List.of(range.major(), range.minor(), range.inode()))) {
                make(one.pid(), range);
            }
        }
    }

    private synchronized @Nullable UnwoundFile make(int pid, MappedRange range) {
        UnwoundFile made = file(mapping(pid, range.start(), range.end()));
        UnwoundFile key = made == null ? same(range) : made;
        if (key != null) {
            keys.put(List.of(range.major(), range.minor(), range.inode()), key);
        }
        return key;
    }

    /** The file by its name, if that still means the one that a process had mapped. */
    private @Nullable UnwoundFile same(MappedRange range) {
        try (TargetFile file = TargetFile.openTrusted(range.path(), MOST_BYTES)) {
            FileStatus status = file.status();
            if (status.inode() != range.inode()
                    || status.deviceMajor() != range.major()
                    || status.deviceMinor() != range.minor()) {
                return null;
            }
            UnwoundFile key = key(status);
            add(key, file);
            return key;
        } catch (IOException e) {
            return null;
        }
    }

    private void add(UnwoundFile key, TargetFile file) throws IOException {
        if (made.contains(key)) {
            return;
        }
        try {
            String name = name(file.status());
            Optional<CompactUnwindTable> kept = full ? Optional.empty() : kept(name);
            Optional<CompactUnwindTable> table =
                    kept.isPresent() || full ? kept : CompactUnwindTable.of(ElfFile.of(file));
            Optional<PythonFile> python =
                    table.isEmpty()
                            ? Optional.empty()
                            : python(file, kept.isEmpty()).filter(this::isKnown);
            if (python.isPresent()) {
                table = table.map(python.get()::mark);
            }
            Optional<ScriptLayout> scripts =
                    table.isEmpty() || python.isPresent()
                            ? Optional.empty()
                            : ScriptLayout.in(ElfFile.of(file));
            if (scripts.isPresent() && kept.isEmpty()) {
                table = table.map(scripts.get()::mark);
            }
            add(key, table);
            if (scripts.isPresent()) {
                tables.addScripts(key, scripts.get());
            }
            if (python.isPresent()) {
                tables.addPython(key, Objects.requireNonNull(python.get().layout()));
            }
            if (kept.isEmpty() && cache != null && table.isPresent()) {
                cache.keep(name, table.get().bytes());
            }
        } catch (InternalError e) {
            // A mapped file that shrinks meanwhile.
            note("a file became shorter while it was read");
        }
    }

    /** Kept rows have the marks of the interpreter already. */
    private static Optional<PythonFile> python(TargetFile file, boolean withCode)
            throws IOException {
        return PythonFile.in(ElfFile.of(file), path(file), withCode);
    }

    private boolean isKnown(PythonFile python) {
        if (python.layout() == null) {
            note(
                    "functions of Python "
                            + python.version()
                            + " are not named: this version is not known");
        }
        return python.layout() != null;
    }

    /** A file that is replaced has another inode; one that is written to, another time. */
    private static String name(FileStatus status) {
        return String.format(
                Locale.ROOT,
                "%x-%x-%x-%x-%x-%x",
                status.deviceMajor(),
                status.deviceMinor(),
                status.inode(),
                status.sizeBytes(),
                status.modifiedNanos(),
                status.changedNanos());
    }

    private Optional<CompactUnwindTable> kept(String name) {
        try (TargetFile file = cache == null ? null : cache.find(name)) {
            return file == null
                    ? Optional.empty()
                    : Optional.of(CompactUnwindTable.read(file.bytes().asByteBuffer()));
        } catch (IOException | InternalError e) {
            Objects.requireNonNull(cache).remove(name);
            return Optional.empty();
        }
    }

    private void add(UnwoundFile key, Optional<CompactUnwindTable> table) throws IOException {
        made.add(key);
        if (table.isPresent() && tables.add(key, table.get())) {
            return;
        }
        tables.addEmpty(key);
        if (table.isPresent()) {
            full = true;
            note("unwinding tables are full (" + (tables.bytes() >> 20) + " MiB)");
        }
    }

    /** As the kernel's inode has it: new_encode_dev of struct super_block's s_dev differs. */
    static UnwoundFile key(FileStatus status) {
        return new UnwoundFile(
                status.inode(),
                status.deviceMajor() << 20 | status.deviceMinor(),
                (int) Math.floorDiv(status.modifiedNanos(), 1_000_000_000L));
    }

    synchronized void note(String sentence) {
        notes.add(sentence);
    }

    /** What went wrong. */
    synchronized List<String> notes() {
        return List.copyOf(notes);
    }
}
