package sonde.bpf.inventory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileVisitResult;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.bpf.AttachType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * The programs of cgroups, also those that have no link (BPF_PROG_QUERY, Linux 4.15), as maps from
 * bpftool's keys.
 */
public final class CgroupPrograms {
    private static final int QUERY_EFFECTIVE = 1;
    private static final int ALLOW_OVERRIDE = 1;
    private static final int ALLOW_MULTI = 2;
    private static final int MOST_PROGRAMS = 4096;

    private CgroupPrograms() {}

    /** The folder of cgroup2, as it is mounted here. */
    public static Optional<Path> root() throws IOException {
        try (var lines = java.nio.file.Files.lines(Path.of("/proc/self/mounts"))) {
            return lines.map(line -> line.split(" ", -1))
                    .filter(words -> words.length > 2 && words[2].equals("cgroup2"))
                    .map(words -> Path.of(words[1]))
                    .findFirst();
        }
    }

    /**
     * What is attached to one cgroup.
     *
     * @param effective whether to tell what runs for it, those of the cgroups above too
     * @throws BpfRefusedException when it is none of cgroup2
     */
    public static List<Map<String, Object>> of(Path cgroup, boolean effective) throws IOException {
        int fd = FileCalls.open(cgroup.toString(), FileCalls.O_RDONLY | FileCalls.O_CLOEXEC);
        try (Arena arena = Arena.ofConfined()) {
            List<Map<String, Object>> all = new ArrayList<>();
            for (AttachType type : AttachType.values()) {
                if (type.name().startsWith("CGROUP_") || type == AttachType.LSM_CGROUP) {
                    query(arena, fd, cgroup, type, effective, all);
                }
            }
            return all;
        } finally {
            Fd.discard(fd);
        }
    }

    private static void query(
            Arena arena,
            int fd,
            Path cgroup,
            AttachType type,
            boolean effective,
            List<Map<String, Object>> all)
            throws IOException {
        MemorySegment ids = arena.allocate(4L * MOST_PROGRAMS, 8);
        MemorySegment attr = BpfAttr.allocate(arena);
        attr.set(JAVA_INT, 0, fd);
        attr.set(JAVA_INT, 4, type.code());
        attr.set(JAVA_INT, 8, effective ? QUERY_EFFECTIVE : 0);
        attr.set(JAVA_LONG, 16, ids.address());
        attr.set(JAVA_INT, 24, MOST_PROGRAMS);
        if (type == AttachType.LSM_CGROUP && !effective) {
            attr.set(JAVA_LONG, 32, arena.allocate(4L * MOST_PROGRAMS, 8).address());
        }
        long result = Bpf.tryCall(BpfAttr.PROG_QUERY, attr);
        if (result == -Errno.EBADF) {
            throw new BpfRefusedException(
                    cgroup.toString(), Errno.EBADF, "is no cgroup of cgroup2", "");
        }
        if (result == -Errno.EINVAL) {
            return; // this kernel has no such place
        }
        if (result < 0) {
            throw new SyscallException("bpf", "programs of " + cgroup, (int) -result);
        }
        int count = Math.min(attr.get(JAVA_INT, 24), MOST_PROGRAMS);
        for (int i = 0; i < count; i++) {
            int flags = attr.get(JAVA_INT, 12);
            program(ids.getAtIndex(JAVA_INT, i), type, effective ? null : flags(flags), all);
        }
    }

    private static String flags(int flags) {
        return switch (flags) {
            case 0 -> "";
            case ALLOW_OVERRIDE -> "override";
            case ALLOW_MULTI -> "multi";
            default -> "unknown(%x)".formatted(flags);
        };
    }

    private static void program(
            int id, AttachType type, @Nullable String flags, List<Map<String, Object>> all)
            throws SyscallException {
        try (Program program = Program.openId(id)) {
            ProgramFacts facts = program.facts();
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("id", (long) id);
            row.put("attach_type", type.kernelName());
            if (flags != null) {
                row.put("attach_flags", flags);
            }
            row.put("name", facts.name());
            all.add(row);
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOENT) { // detached meanwhile
                throw e;
            }
        }
    }

    /** The cgroups below a folder that have programs: {@code cgroup} and {@code programs}. */
    public static List<Map<String, Object>> tree(Path root, boolean effective) throws IOException {
        List<Map<String, Object>> all = new ArrayList<>();
        java.nio.file.Files.walkFileTree(
                root,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes facts)
                            throws IOException {
                        List<Map<String, Object>> programs = of(folder, effective);
                        if (!programs.isEmpty()) {
                            Map<String, Object> row = new LinkedHashMap<>();
                            row.put("cgroup", folder.toString());
                            row.put("programs", programs);
                            all.add(row);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException why)
                            throws IOException {
                        if (file.equals(root)) {
                            throw why;
                        }
                        return FileVisitResult.CONTINUE; // removed meanwhile
                    }
                });
        return all;
    }
}
