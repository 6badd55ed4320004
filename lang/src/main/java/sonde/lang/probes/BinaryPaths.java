package sonde.lang.probes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.symbol.files.LdSoCache;
import sonde.sys.Arch;
import sonde.sys.FileCalls;
import sonde.sys.MappedRange;

/**
 * From what a script calls a file to paths that can be opened: as they stand, by {@code PATH}, by
 * the names of libraries, by patterns, and what processes have mapped. Of a traced process in
 * another mount namespace the paths go through {@code /proc/PID/root}.
 */
final class BinaryPaths {
    private static final int ET_EXEC = 2;
    private static final int ET_DYN = 3;
    private static final int MOST_FILES = 4096;

    private final OptionalInt pid;
    private final boolean unsafe;
    private final String root;

    BinaryPaths(OptionalInt pid, boolean unsafe) {
        this.pid = pid;
        this.unsafe = unsafe;
        this.root = pid.isPresent() && hasOwnMounts(pid.getAsInt()) ? root(pid.getAsInt()) : "";
    }

    private static String root(int pid) {
        return "/proc/" + pid + "/root";
    }

    private static boolean hasOwnMounts(int pid) {
        try {
            Path theirs = Files.readSymbolicLink(Path.of("/proc/" + pid + "/ns/mnt"));
            return !theirs.equals(Files.readSymbolicLink(Path.of("/proc/self/ns/mnt")));
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Files that can be probed, the one that is meant first; empty when there is none.
     *
     * @param target path, name, library or pattern; {@code *} for all that is mapped
     */
    List<String> resolve(String target) {
        if (target.equals("*")) {
            return mapped();
        }
        if (pid.isPresent() && target.equals("/proc/" + pid.getAsInt() + "/exe")) {
            return executable(target);
        }
        if (NamePattern.isPattern(target)) {
            return glob(target);
        }
        String fileName = target;
        if (fileName.indexOf('/') < 0 && fileName.startsWith("lib")) {
            List<String> libraries = libraries(fileName);
            if (!libraries.isEmpty()) {
                return List.of(libraries.getFirst());
            }
        }
        List<String> found = new ArrayList<>();
        Set<Path> files = new HashSet<>();
        for (String candidate : candidates(target)) {
            String path = inRoot(candidate);
            // /bin and /usr/bin are one folder on most systems.
            if ((isProgram(path) || unsafe && isThere(path)) && files.add(realPath(path))) {
                found.add(path);
            }
        }
        return found.isEmpty() && target.indexOf('/') < 0 ? shortName(target) : found;
    }

    /** BCC writes {@code c} for libc. */
    private List<String> shortName(String target) {
        return libraries("lib" + target).stream().limit(1).toList();
    }

    private static Path realPath(String path) {
        try {
            return Path.of(path).toRealPath();
        } catch (IOException e) {
            return Path.of(path);
        }
    }

    private List<String> executable(String link) {
        try {
            String path = inRoot(Files.readSymbolicLink(Path.of(link)).toString());
            return isProgram(path) ? List.of(path) : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }

    private List<String> libraries(String name) {
        List<String> found = new ArrayList<>();
        if (pid.isPresent()) {
            for (String path : mappedBy(pid.getAsInt())) {
                if (LdSoCache.fits(path.substring(path.lastIndexOf('/') + 1), name)) {
                    found.add(path);
                }
            }
        }
        for (String path : LdSoCache.find(LdSoCache.read(LdSoCache.PATH), name, Arch.current())) {
            if (isProgram(inRoot(path))) {
                found.add(inRoot(path));
            }
        }
        return found;
    }

    /** As it stands, then in the folders of PATH. */
    private List<String> candidates(String target) {
        List<String> all = new ArrayList<>();
        all.add(target);
        if (target.indexOf('/') < 0) {
            for (String folder : searchPath().split(":", -1)) {
                if (!folder.isEmpty()) {
                    all.add(folder + "/" + target);
                }
            }
        }
        return all;
    }

    private String searchPath() {
        if (!root.isEmpty()) {
            try {
                byte[] text = FileCalls.readAll(environment(), 1 << 20);
                for (String word : new String(text, StandardCharsets.UTF_8).split("\0", -1)) {
                    if (word.startsWith("PATH=")) {
                        return word.substring(5);
                    }
                }
            } catch (IOException e) {
                // Not ours to read: our own folders then.
                return System.getenv().getOrDefault("PATH", "");
            }
        }
        return System.getenv().getOrDefault("PATH", "");
    }

    private String environment() {
        return "/proc/" + pid.orElseThrow() + "/environ";
    }

    private String inRoot(String path) {
        if (root.isEmpty() || path.startsWith(root + "/")) {
            return path;
        }
        return root + (path.startsWith("/") ? "" : "/") + path;
    }

    private List<String> glob(String pattern) {
        List<String> found = new ArrayList<>();
        for (String candidate : candidates(pattern)) {
            String full = inRoot(candidate);
            boolean absolute = full.startsWith("/");
            List<String> level = List.of(absolute ? "/" : "");
            for (String part : full.split("/", -1)) {
                if (!part.isEmpty()) {
                    level = step(level, part);
                }
            }
            level.stream().filter(BinaryPaths::isProgram).sorted().forEach(found::add);
        }
        return found;
    }

    /** Everything of that name in any of the folders; {@code "."} is kept as the user wrote it. */
    private static List<String> step(List<String> folders, String part) {
        List<String> next = new ArrayList<>();
        for (String folder : folders) {
            String prefix = folder.isEmpty() || folder.endsWith("/") ? folder : folder + "/";
            if (!NamePattern.isPattern(part)) {
                next.add(prefix + part);
                continue;
            }
            try (DirectoryStream<Path> list =
                    Files.newDirectoryStream(Path.of(prefix.isEmpty() ? "." : prefix), part)) {
                for (Path path : list) {
                    String name = "" + path.getFileName();
                    if (next.size() < MOST_FILES && !name.startsWith(".")) {
                        next.add(prefix + name);
                    }
                }
            } catch (IOException | DirectoryIteratorException | InvalidPathException e) {
                // No folder, or not one for us: nothing in it can be meant.
                continue;
            } catch (java.util.regex.PatternSyntaxException e) {
                continue;
            }
        }
        return next;
    }

    private static boolean isThere(String path) {
        try {
            return Files.exists(Path.of(path));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** Whether it is an ELF file: a library, or a program that may be executed. */
    static boolean isProgram(String path) {
        try {
            Path file = Path.of(path);
            if (!Files.isRegularFile(file)) {
                return false;
            }
            byte[] head = new byte[18];
            try (InputStream in = Files.newInputStream(file)) {
                if (in.readNBytes(head, 0, head.length) < head.length) {
                    return false;
                }
            }
            boolean elf = head[0] == 0x7f && head[1] == 'E' && head[2] == 'L' && head[3] == 'F';
            int type = head[5] == 2 ? head[17] : head[16];
            return elf && (type == ET_DYN || type == ET_EXEC && mayRun(file));
        } catch (IOException | InvalidPathException e) {
            return false;
        }
    }

    private static boolean mayRun(Path file) throws IOException {
        return Files.getPosixFilePermissions(file).contains(PosixFilePermission.OWNER_EXECUTE);
    }

    /** Files that the traced process, or without one any process, has mapped to be executed. */
    List<String> mapped() {
        if (pid.isPresent()) {
            return mappedBy(pid.getAsInt());
        }
        Map<String, String> byFile = new LinkedHashMap<>();
        String[] names = new java.io.File("/proc").list();
        if (names == null) {
            return List.of();
        }
        Arrays.sort(names);
        for (String name : names) {
            if (!name.isEmpty() && Character.isDigit(name.charAt(0))) {
                addMapped(Integer.parseInt(name), byFile);
            }
        }
        return List.copyOf(new TreeSet<>(byFile.values()));
    }

    private static List<String> mappedBy(int pid) {
        Map<String, String> byFile = new LinkedHashMap<>();
        addMapped(pid, byFile);
        return List.copyOf(new TreeSet<>(byFile.values()));
    }

    /** Adds by device and inode, so that a file of many processes is there once. */
    private static void addMapped(int pid, Map<String, String> byFile) {
        List<MappedRange> ranges;
        try {
            ranges = MappedRange.of(pid);
        } catch (IOException e) {
            return;
        }
        @Nullable Boolean own = null;
        for (MappedRange range : ranges) {
            if (!range.isExecutable() || !range.path().startsWith("/")) {
                continue;
            }
            String key = range.device() + ":" + range.inode();
            if (!byFile.containsKey(key) && !range.path().endsWith(" (deleted)")) {
                own = own == null ? Boolean.valueOf(hasOwnMounts(pid)) : own;
                String path = own ? root(pid) + range.path() : range.path();
                if (isProgram(path)) {
                    byFile.put(key, path);
                }
            }
        }
    }
}
