package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import sonde.symbol.files.GivenPlaces;
import sonde.sys.Errno;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/** From what a user calls a program to a {@link ProbedObject}. */
public final class ProbedObjects {
    private static final List<String> LIBRARIES =
            List.of(
                    "/lib/x86_64-linux-gnu",
                    "/usr/lib/x86_64-linux-gnu",
                    "/lib/aarch64-linux-gnu",
                    "/usr/lib/aarch64-linux-gnu",
                    "/lib64",
                    "/usr/lib64",
                    "/lib",
                    "/usr/lib",
                    "/usr/local/lib");

    private ProbedObjects() {}

    /**
     * Opens.
     *
     * @param file a path, a name found by PATH or among libraries, or a part of the name of what
     *     the process has mapped; empty for the program of the process, or the kernel
     * @param pid of a process whose files are meant
     * @param module of the kernel, by name or the path of its file
     */
    public static ProbedObject open(
            Optional<String> file, OptionalInt pid, Optional<String> module, GivenPlaces given)
            throws IOException {
        if (module.isPresent()) {
            if (pid.isPresent() || file.isPresent()) {
                throw new ProbeException("a module is in the kernel, not in a program");
            }
            return ProbedObject.module(module.get(), given);
        }
        if (pid.isPresent()) {
            return process(pid.getAsInt(), file, given);
        }
        if (file.isEmpty()) {
            return ProbedObject.kernel(given);
        }
        Path found = find(file.get());
        return ProbedObject.program(found.toRealPath().toString(), given);
    }

    private static Path find(String name) throws ProbeException {
        if (name.indexOf('/') >= 0) {
            return Path.of(name);
        }
        List<String> folders = new ArrayList<>();
        folders.add(".");
        String path = System.getenv("PATH");
        folders.addAll(List.of((path == null ? "/usr/bin:/bin" : path).split(":")));
        folders.addAll(LIBRARIES);
        for (String folder : folders) {
            Path place = Path.of(folder.isEmpty() ? "." : folder, name);
            if (Files.isRegularFile(place)) {
                return place;
            }
        }
        return library(name)
                .orElseThrow(() -> new ProbeException("there is no program or library " + name));
    }

    /** {@code libc}: its shortest name with {@code .so} and a version behind. */
    private static Optional<Path> library(String name) {
        for (String folder : LIBRARIES) {
            try (Stream<Path> files = Files.list(Path.of(folder))) {
                Optional<Path> found =
                        files.filter(file -> isLibrary(file.getFileName().toString(), name))
                                .filter(Files::isRegularFile)
                                .min(
                                        Comparator.comparing(
                                                        (Path file) -> file.toString().length())
                                                .thenComparing(Path::toString));
                if (found.isPresent()) {
                    return found;
                }
            } catch (IOException e) {
                continue; // a folder that this machine does not have
            }
        }
        return Optional.empty();
    }

    /** Not a text for the linker, which has no version. */
    private static boolean isLibrary(String file, String name) {
        return file.startsWith(name + ".so.")
                && file.substring(name.length() + 4).matches("[\\d.]+");
    }

    private static ProbedObject process(int pid, Optional<String> file, GivenPlaces given)
            throws IOException {
        String root = "/proc/" + pid + "/root";
        String path;
        try {
            path =
                    file.isEmpty()
                            ? Files.readSymbolicLink(Path.of("/proc/" + pid + "/exe")).toString()
                            : mapped(pid, file.get());
        } catch (java.nio.file.NoSuchFileException e) {
            throw new ProbeException("there is no process " + pid);
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                throw new ProbeException("there is no process " + pid);
            }
            throw e;
        }
        String bare = path.replaceFirst(" \\(deleted\\)$", "");
        if (!bare.equals(path)) {
            throw new ProbeException(
                    "process " + pid + " runs a " + bare + " that was deleted since it started");
        }
        // Opened in the process's own root, by the file and not by what its name becomes.
        TargetFile opened = TargetFile.openIn(root, path, ProbedObject.MOST_BYTES);
        boolean sameRoot = Files.isRegularFile(Path.of(path)) && isSame(Path.of(path), root + path);
        return ProbedObject.program(sameRoot ? path : root + path, opened, given);
    }

    private static boolean isSame(Path ours, String theirs) throws IOException {
        return Files.isSameFile(ours, Path.of(theirs));
    }

    private static String mapped(int pid, String name) throws IOException {
        if (name.startsWith("/")) {
            return name;
        }
        for (MappedRange range : MappedRange.of(pid)) {
            String path = range.path();
            if (path.startsWith("/")) {
                String file = path.substring(path.lastIndexOf('/') + 1);
                if (file.equals(name)
                        || file.startsWith(name + ".")
                        || file.startsWith(name + "-")) {
                    return path;
                }
            }
        }
        throw new ProbeException("process " + pid + " has nothing mapped that is called " + name);
    }
}
