package sonde.probe.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNote;
import sonde.recording.perfdata.BuildId;
import sonde.sys.Clocks;
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

    private final Set<String> paths = new LinkedHashSet<>();
    private final SequencedMap<String, Integer> earlier = new LinkedHashMap<>();
    private final Set<String> modules = new LinkedHashSet<>();

    /** None yet. */
    public MappedFiles() {}

    /** A file was mapped before the recording began, as that process sees it. */
    void mappedBefore(String path, int pid) {
        if (isFile(path) && earlier.size() < MAX_FILES) {
            earlier.putIfAbsent(path, pid);
        }
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
    void mapped(String path) {
        if (isFile(path) && paths.size() < MAX_FILES) {
            paths.add(path);
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
