package sonde.probe.tracefs;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.FsStatus;
import sonde.sys.NativeSyscall;
import sonde.sys.SyscallException;
import sonde.sys.SyscallNames;

/**
 * The mounted tracefs. It is written through {@link TraceInstance} and {@link TopFiles} only; what
 * is read here changes nothing: {@code free_buffer}, which shrinks the ring when closed, and {@code
 * trace_pipe}, which eats events, are never opened.
 *
 * @param root where it is mounted
 */
public record Tracefs(String root) {
    /** Where every distribution mounts it. */
    public static final String USUAL = "/sys/kernel/tracing";

    private static final int MAX_TEXT = 64 << 20;

    /** The tracefs that is mounted and readable, if one is. */
    public static Optional<Tracefs> find() {
        for (String path : List.of(USUAL, "/sys/kernel/debug/tracing")) {
            try {
                if (FileCalls.statfs(path).type() == FsStatus.TRACEFS_MAGIC
                        && FileCalls.access(
                                        FileCalls.AT_FDCWD, bytes(path + "/events"), FileCalls.R_OK)
                                == 0) {
                    return Optional.of(new Tracefs(path));
                }
            } catch (SyscallException e) {
                // Not there, or hidden from this user: the next place may be open.
                continue;
            }
        }
        return Optional.empty();
    }

    /**
     * Mounts it at {@link #USUAL}, as every boot script does; stays mounted (docs/kernel-state.md).
     *
     * @throws SyscallException EPERM without CAP_SYS_ADMIN, ENODEV when the kernel has none, ENOENT
     *     without the directory
     */
    public static Tracefs mount() throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment type = arena.allocateFrom("tracefs");
            MemorySegment target = arena.allocateFrom(USUAL);
            long result =
                    NativeSyscall.syscall(
                            SyscallNames.number("mount"),
                            type.address(),
                            target.address(),
                            type.address(),
                            0,
                            0,
                            0);
            if (result < 0 && result != -Errno.EBUSY) {
                throw new SyscallException("mount", "tracefs on " + USUAL, (int) -result);
            }
        }
        return new Tracefs(USUAL);
    }

    /** {@code system:name} of every event, sorted. */
    public List<String> tracepoints() throws SyscallException {
        // Read from the global list in one go; a walk over 2300 directories takes 80 ms.
        String[] lines = text("available_events").split("\n");
        Arrays.sort(lines);
        List<String> names = new ArrayList<>(lines.length);
        for (String line : lines) {
            if (line.indexOf(':') > 0) {
                names.add(line);
            }
        }
        return names;
    }

    /** The tracers of this kernel. */
    public List<String> tracers() throws SyscallException {
        return List.of(text("available_tracers").strip().split("\\s+"));
    }

    /** The functions that can be traced, as the kernel lists them; modules' without the module. */
    public List<String> functions() throws SyscallException {
        return text("available_filter_functions")
                .lines()
                .map(line -> line.split("[ \t]", 2)[0])
                .filter(line -> !line.isEmpty() && !line.startsWith("__ftrace_invalid_address"))
                .toList();
    }

    /** The number of an event, as in perf's config and in the first field of its records. */
    public int eventId(String qualifiedName) throws SyscallException {
        return Integer.parseInt(text(eventFolder(qualifiedName) + "/id").strip());
    }

    /** {@code events/SYSTEM/NAME}. */
    static String eventFolder(String qualifiedName) {
        int colon = qualifiedName.indexOf(':');
        String folder =
                qualifiedName.substring(0, colon) + "/" + qualifiedName.substring(colon + 1);
        if (!folder.matches("[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+") || folder.startsWith("..")) {
            throw new IllegalArgumentException("event name " + qualifiedName);
        }
        return "events/" + folder;
    }

    /** The text of a file under the root. */
    public String text(String file) throws SyscallException {
        return new String(FileCalls.readAll(root + "/" + file, MAX_TEXT), StandardCharsets.UTF_8);
    }

    /** Names of a directory under the root, sorted; empty when there is no such directory. */
    public List<String> list(String folder) {
        String[] names = new File(root, folder).list();
        if (names == null) {
            return List.of();
        }
        Arrays.sort(names);
        return List.of(names);
    }

    /** Every instance, ours and others'. */
    public List<String> instances() {
        return list("instances");
    }

    /**
     * Removes what killed recorders of this boot and pid namespace left behind.
     *
     * @return the names removed, and files of the top that were put back; what is busy stays
     */
    public List<String> removeLeftovers() {
        List<String> removed = new ArrayList<>(TopFiles.removeLeftovers(this));
        for (String name : instances()) {
            Optional<InstanceName> parsed = InstanceName.parse(name);
            if (parsed.isPresent() && parsed.get().isLeftover()) {
                String path = root + "/instances/" + name;
                try {
                    write(path + "/tracing_on", "0");
                    write(path + "/events/enable", "0");
                    FileCalls.unlinkat(FileCalls.AT_FDCWD, bytes(path), FileCalls.AT_REMOVEDIR);
                    removed.add(name);
                } catch (SyscallException e) {
                    // Another sonde may clean at this moment, or somebody reads from it.
                    continue;
                }
            }
        }
        return removed;
    }

    /** Writes a value in one write(2), as tracefs wants it. */
    static void write(String path, String value) throws SyscallException {
        write(path, value, FileCalls.O_WRONLY);
    }

    static void write(String path, String value, int flags) throws SyscallException {
        int fd = FileCalls.open(path, flags);
        try (Arena arena = Arena.ofConfined()) {
            byte[] text = bytes(value);
            MemorySegment segment = arena.allocate(Math.max(text.length, 1));
            MemorySegment.copy(
                    text, 0, segment, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, text.length);
            try {
                Fd.write(fd, segment.asSlice(0, text.length));
            } catch (SyscallException e) {
                throw new SyscallException("write", path + ", \"" + value + "\"", e.errno());
            }
        } finally {
            Fd.discard(fd);
        }
    }

    static byte[] bytes(String path) {
        return path.getBytes(StandardCharsets.UTF_8);
    }
}
