package sonde.probe.perf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNote;
import sonde.recording.perfdata.BuildId;
import sonde.sys.Clocks;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/**
 * The executable files that mmap2 records named or that were mapped before, the kernel and its
 * modules, and their build ids: {@code perf buildid-list} and the tools behind it find the right
 * debug files by them. Read when a recording ends.
 */
public final class MappedFiles {
    /** Files beyond these are left out; their names cost memory. */
    private static final int MAX_FILES = 2048;

    /** PATH_MAX of include/uapi/linux/limits.h. */
    static final int MAX_PATH_BYTES = 4096;

    private static final Path KERNEL_NOTES = Path.of("/sys/kernel/notes");

    private static final Path MODULES = Path.of("/sys/module");

    /** For the files that were mapped before the recording: a machine may have thousands. */
    private static final long EARLIER_NANOS = 200_000_000;

    private static final long MAX_ELF_BYTES = 4L << 30;

    private static final int MOST_FOREIGN = 1 << 14;

    private final Set<String> paths = new LinkedHashSet<>();
    private final SequencedMap<String, Integer> earlier = new LinkedHashMap<>();
    private final Set<String> modules = new LinkedHashSet<>();
    private final Map<MappedFile, FoundFile> found = new HashMap<>();
    private final List<ForeignMapping> foreign = new ArrayList<>();

    /** Paths that mean a file here, and another one to a process. */
    private final Set<String> ambiguous = new HashSet<>();

    private Function<MappedRange, String> opened = _ -> "";

    /** None yet. */
    public MappedFiles() {}

    /** A file as the records tell of it: processes with other roots have others of its path. */
    private record MappedFile(String path, int major, int minor, long inode) {}

    /** The path from our root, as mapped where it has none; the build id is empty without one. */
    private record FoundFile(String path, String buildId, boolean isOwn) {}

    /** A mapping whose path means another file here, or none. */
    public record ForeignMapping(
            long timeNanos, int pid, MappedRange range, String path, String buildId) {}

    /**
     * Asks this for the files of processes that are gone.
     *
     * @param paths from our root, of files that were opened while they were mapped; empty for none
     */
    void opened(Function<MappedRange, String> paths) {
        opened = paths;
    }

    /** A file was mapped before the recording began, as we see that process. */
    Optional<ForeignMapping> mappedBefore(MappedRange range, int pid) {
        if (isFile(range.path()) && earlier.size() < MAX_FILES) {
            earlier.putIfAbsent(range.path(), pid);
        }
        FoundFile file = file(pid, range);
        return file == null || file.isOwn()
                ? Optional.empty()
                : Optional.of(new ForeignMapping(0, pid, range, file.path(), file.buildId()));
    }

    /** Mappings since the last call whose files are others than their paths say. */
    public List<ForeignMapping> takeForeign() {
        List<ForeignMapping> taken = List.copyOf(foreign);
        foreign.clear();
        return taken;
    }

    /** A kernel module is loaded. */
    void module(String name) {
        if (name.matches("[\\w-]{1,64}") && modules.size() < MAX_FILES) {
            modules.add(name);
        }
    }

    private static boolean isFile(String path) {
        return path.startsWith("/") && !path.startsWith("//");
    }

    /** A file was mapped; {@code //anon}, {@code [vdso]} and the like are no files. */
    void mapped(long timeNanos, int pid, MappedRange range) {
        String path = range.path();
        FoundFile file = file(pid, range);
        if (file == null || file.isOwn()) {
            if (isFile(path) && paths.size() < MAX_FILES) {
                paths.add(path);
            }
        } else if (foreign.size() < MOST_FOREIGN) {
            foreign.add(new ForeignMapping(timeNanos, pid, range, file.path(), file.buildId()));
        }
    }

    private @Nullable FoundFile file(int pid, MappedRange range) {
        String path = range.path();
        if (!isFile(path) || range.inode() == 0) {
            return null;
        }
        MappedFile key = new MappedFile(path, range.major(), range.minor(), range.inode());
        FoundFile file = found.get(key);
        if (file == null && found.size() < MAX_FILES) {
            file = isAt(path, range) ? new FoundFile(path, "", true) : find(pid, range);
            if (file == null) {
                ambiguous.add(path); // of a process that is gone
                return null;
            }
            found.put(key, file);
            if (!file.isOwn() && file.buildId().isEmpty() && file.path().equals(path)) {
                ambiguous.add(path);
            }
        }
        return file;
    }

    /** By the mapping itself; else by what was opened when it was first met. */
    private @Nullable FoundFile find(int pid, MappedRange range) {
        String link = "/proc/%d/map_files/%x-%x".formatted(pid, range.start(), range.end());
        try (TargetFile file = TargetFile.openTrusted(link, MAX_ELF_BYTES)) {
            byte[] name = file.link().getBytes(StandardCharsets.UTF_8);
            byte[] target = FileCalls.readlinkat(FileCalls.AT_FDCWD, name);
            return found(range, new String(target, StandardCharsets.UTF_8), file);
        } catch (IOException | InternalError gone) {
            String path = opened.apply(range);
            if (path.isEmpty() || !isAt(path, range)) {
                return null;
            }
            try (TargetFile file = TargetFile.open(path, MAX_ELF_BYTES)) {
                return found(range, path, file);
            } catch (IOException | InternalError unreadable) {
                return null;
            }
        }
    }

    private static FoundFile found(MappedRange range, String target, TargetFile file) {
        boolean isHere = isSame(target, file.status());
        boolean isOwn = isHere && target.equals(range.path());
        String path = isHere ? target : range.path();
        try {
            String id = id(file).map(bytes -> HexFormat.of().formatHex(bytes)).orElse("");
            return new FoundFile(path, id, isOwn);
        } catch (IOException noElf) {
            return new FoundFile(path, "", isOwn);
        }
    }

    private static boolean isSame(String path, FileStatus status) {
        try {
            FileStatus here = FileCalls.stat(path);
            return here.device() == status.device() && here.inode() == status.inode();
        } catch (SyscallException e) {
            return false;
        }
    }

    /** Whether our path leads to the mapped file, as far as its number tells. */
    private static boolean isAt(String path, MappedRange range) {
        try {
            FileStatus here = FileCalls.stat(path);
            boolean sameDevice =
                    here.deviceMajor() == range.major() && here.deviceMinor() == range.minor();
            return FileStatus.isSameInode(sameDevice, here.inode(), range.inode());
        } catch (SyscallException e) {
            return false;
        }
    }

    /** Build ids of the kernel, its modules and the files that have one and can be opened. */
    public List<BuildId> buildIds() {
        List<BuildId> found = new ArrayList<>();
        note(KERNEL_NOTES).ifPresent(id -> found.add(of(id, true, "[kernel.kallsyms]")));
        for (String module : modules) {
            note(MODULES.resolve(module).resolve("notes/.note.gnu.build-id"))
                    .ifPresent(id -> found.add(of(id, true, "[" + module + "]")));
        }
        paths.removeAll(ambiguous);
        ambiguous.forEach(earlier::remove);
        for (String path : paths) {
            file(path).ifPresent(id -> found.add(of(id, false, path)));
        }
        long deadline = Clocks.nanos(Clocks.CLOCK_MONOTONIC) + EARLIER_NANOS;
        // Where the time does not suffice, the youngest processes matter most.
        for (Map.Entry<String, Integer> one : earlier.sequencedEntrySet().reversed()) {
            String path = one.getKey();
            if (Clocks.nanos(Clocks.CLOCK_MONOTONIC) > deadline) {
                break;
            }
            if (!paths.contains(path)) {
                seenBy(one.getValue(), path).ifPresent(id -> found.add(of(id, false, path)));
            }
        }
        return found;
    }

    private static BuildId of(byte[] id, boolean kernel, String path) {
        return new BuildId(-1, kernel, HexFormat.of().formatHex(id), path);
    }

    private static Optional<byte[]> file(String path) {
        try (TargetFile file = TargetFile.open(path, MAX_ELF_BYTES)) {
            return id(file);
        } catch (IOException gone) {
            // Removed, not ours to read, not to be mapped (sysfs), or no ELF file: perf's list
            // leaves it out too.
            return Optional.empty();
        } catch (InternalError shrunk) {
            return Optional.empty(); // while it was read
        }
    }

    /** In the root of that process as long as it lives, else in ours. */
    private static Optional<byte[]> seenBy(int pid, String path) {
        try (TargetFile file = TargetFile.openIn("/proc/" + pid + "/root", path, MAX_ELF_BYTES)) {
            return id(file);
        } catch (IOException | InternalError gone) {
            return file(path);
        }
    }

    private static Optional<byte[]> id(TargetFile file) throws IOException {
        return ElfFile.of(file).buildId().filter(id -> id.length <= 20);
    }

    private static Optional<byte[]> note(Path notes) {
        try {
            return ElfNote.buildIdIn(Files.readAllBytes(notes)).filter(id -> id.length <= 20);
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }
}
