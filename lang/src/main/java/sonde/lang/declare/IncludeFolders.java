package sonde.lang.declare;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where headers are.
 *
 * @param folders to look in first
 * @param first headers that are included before the script's own lines
 */
public record IncludeFolders(List<Path> folders, List<String> first) {
    /** The system's headers alone. */
    public static final IncludeFolders NONE = new IncludeFolders(List.of(), List.of());

    private static final long MOST_BYTES = 4 << 20;

    private static final List<Path> SYSTEM =
            List.of(
                    Path.of("/usr/local/include"),
                    Path.of("/usr/include/x86_64-linux-gnu"),
                    Path.of("/usr/include"));

    private static final Path GCC = Path.of("/usr/lib/gcc/x86_64-linux-gnu");

    /** Folders of the kernel's own headers, whose types BTF has. */
    private static final Set<String> KERNEL =
            Set.of(
                    """
                    linux net asm asm-generic uapi scsi rdma trace crypto drm sound \
                    video media acpi xen kvm target keys block fs kernel mm drivers \
                    security bpf vdso generated kunit pcmcia memory soc dt-bindings \
                    math-emu misc ras\
                    """
                            .split(" "));

    /** Headers of C and glibc whose names are known without them. */
    private static final Set<String> LIBC =
            Set.of(
                    """
                    stddef.h stdint.h stdbool.h stdarg.h limits.h errno.h fcntl.h \
                    signal.h sched.h poll.h time.h unistd.h syscall.h inttypes.h \
                    stdlib.h stdio.h string.h vmlinux.h sys/types.h sys/socket.h \
                    sys/stat.h sys/mman.h sys/syscall.h sys/time.h sys/wait.h \
                    sys/epoll.h sys/ptrace.h netinet/in.h netinet/tcp.h arpa/inet.h\
                    """
                            .split(" "));

    public IncludeFolders {
        folders = List.copyOf(folders);
        first = List.copyOf(first);
    }

    /**
     * The file of an include.
     *
     * @param beside the folder of the file that includes it in quotes, null for none
     */
    @Nullable Path find(String name, @Nullable Path beside) {
        List<Path> all = new ArrayList<>();
        if (beside != null) {
            all.add(beside);
        }
        all.addAll(folders);
        all.addAll(SYSTEM);
        try {
            for (Path folder : all) {
                Path file = folder.resolve(name);
                if (Files.isRegularFile(file)) {
                    return file;
                }
            }
            return compilers(name);
        } catch (InvalidPathException e) {
            return null;
        }
    }

    /** Whether a header is one of the system, not of the script. */
    boolean isSystems(Path file) {
        return file.startsWith(GCC) || SYSTEM.stream().anyMatch(file::startsWith);
    }

    /** gcc brings stddef.h and its like itself. */
    private static @Nullable Path compilers(String name) {
        if (!Files.isDirectory(GCC)) {
            return null;
        }
        try (Stream<Path> versions = Files.list(GCC)) {
            return versions.map(version -> version.resolve("include").resolve(name))
                    .filter(Files::isRegularFile)
                    .findFirst()
                    .orElse(null);
        } catch (IOException e) {
            return null;
        }
    }

    /** Whether what a missing header has is known from elsewhere. */
    boolean isKnown(String name, boolean kernelIsThere) {
        int slash = name.indexOf('/');
        boolean kernel = slash > 0 && KERNEL.contains(name.substring(0, slash));
        return LIBC.contains(name) || kernel && kernelIsThere;
    }

    /** The text of a header; null when it cannot be read. */
    static @Nullable String read(Path file) {
        try {
            if (Files.size(file) > MOST_BYTES) {
                return null;
            }
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return null;
        }
    }
}
