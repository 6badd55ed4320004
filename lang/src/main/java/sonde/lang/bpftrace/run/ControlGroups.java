package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/** The control groups of this machine: ids, which are inodes, and paths, in every hierarchy. */
final class ControlGroups {
    private static final int MOST_MOUNTS = 16 << 20;
    private static final int MOST_DEPTH = 32;
    private static final int MOST_KEPT = 1 << 16;

    private final Map<WantedGroup, String> found = new HashMap<>();
    private @Nullable List<Hierarchy> hierarchies;

    /** What a hierarchy is called, and where it is mounted. */
    private record Hierarchy(String name, Path root) {}

    private record WantedGroup(long id, Path root) {}

    /** The id of a group by its path in the file system; 0 for none. */
    static long id(String path) {
        try {
            return inode(Path.of(path));
        } catch (IOException | IllegalArgumentException e) {
            return 0;
        }
    }

    private static long inode(Path path) throws IOException {
        return Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS) instanceof Long n
                ? n
                : 0;
    }

    /**
     * {@code "unified:/system.slice"}: the group of an id in each hierarchy that has it, the newer
     * kind first, the others by name.
     *
     * @param pattern of the names of hierarchies, with {@code *}; empty for all
     */
    String paths(long id, String pattern) {
        Pattern wanted =
                Pattern.compile(
                        Stream.of(pattern.split("\\*", -1))
                                .map(Pattern::quote)
                                .collect(Collectors.joining(".*")));
        List<String> paths = new ArrayList<>();
        for (Hierarchy one : hierarchies()) {
            if (pattern.isEmpty() || wanted.matcher(one.name()).matches()) {
                String path = path(id, one.root());
                if (!path.isEmpty()) {
                    paths.add(one.name() + ":" + path);
                }
            }
        }
        return String.join(",", paths);
    }

    private List<Hierarchy> hierarchies() {
        List<Hierarchy> known = hierarchies;
        if (known == null) {
            known = mounted();
            hierarchies = known;
        }
        return known;
    }

    /** /proc/mounts: device, folder, kind, options. */
    private static List<Hierarchy> mounted() {
        List<Hierarchy> newer = new ArrayList<>();
        List<Hierarchy> older = new ArrayList<>();
        try {
            String mounts =
                    new String(
                            FileCalls.readAll("/proc/self/mounts", MOST_MOUNTS),
                            StandardCharsets.UTF_8);
            for (String line : mounts.lines().toList()) {
                String[] words = line.split(" ", 4);
                if (words.length == 4 && words[2].equals("cgroup2")) {
                    newer.add(new Hierarchy("unified", Path.of(words[1])));
                } else if (words.length == 4 && words[2].equals("cgroup")) {
                    Path root = Path.of(words[1]);
                    older.add(new Hierarchy(String.valueOf(root.getFileName()), root));
                }
            }
        } catch (SyscallException e) {
            return List.of();
        }
        older.sort(Comparator.comparing(Hierarchy::name));
        newer.addAll(older);
        return newer;
    }

    /** A group's path is kept: it may be gone when it is printed again. */
    private String path(long id, Path root) {
        WantedGroup wanted = new WantedGroup(id, root);
        String known = found.get(wanted);
        if (known == null) {
            known = search(root, root, id, 0);
            if (!known.isEmpty() && found.size() < MOST_KEPT) {
                found.put(wanted, known);
            }
        }
        return known;
    }

    private static String search(Path root, Path folder, long id, int depth) {
        try {
            if (inode(folder) == id) {
                return "/" + root.relativize(folder);
            }
        } catch (IOException e) {
            return "";
        }
        if (depth >= MOST_DEPTH) {
            return "";
        }
        try (DirectoryStream<Path> below = Files.newDirectoryStream(folder)) {
            for (Path path : below) {
                if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                    String there = search(root, path, id, depth + 1);
                    if (!there.isEmpty()) {
                        return there;
                    }
                }
            }
        } catch (IOException e) {
            // It went away meanwhile.
        }
        return "";
    }
}
