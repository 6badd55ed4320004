package sonde.symbol.files;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The files of a folder that the user gave, by their names: build trees keep them anywhere. Walked
 * once, without following links, to a bound.
 */
final class FolderIndex {
    private static final int DEPTH_LIMIT = 16;
    private static final int FILE_LIMIT = 500_000;
    private static final int SAME_NAME_LIMIT = 64;

    /** Endings of files that never are what is looked for, and are many. */
    private static final Set<String> SOURCES =
            Set.of(
                    "c", "h", "cc", "cpp", "cxx", "hh", "hpp", "S", "s", "rs", "py", "pl", "sh",
                    "txt", "rst", "md", "html", "xml", "json", "js", "java", "class", "o", "d",
                    "cmd", "a", "la", "mo", "po", "png", "svg", "yaml", "dts", "dtsi", "tmp",
                    "log");

    private final Map<String, List<String>> byName = new HashMap<>();
    private int seen;

    FolderIndex(Path folder) {
        try {
            Files.walkFileTree(
                    folder,
                    EnumSet.noneOf(java.nio.file.FileVisitOption.class),
                    DEPTH_LIMIT,
                    new FolderWalk());
        } catch (IOException | SecurityException e) {
            // What was seen up to here is there.
            seen = FILE_LIMIT;
        }
    }

    /** Paths of the files of a name, at most 64. */
    List<String> named(String name) {
        return byName.getOrDefault(name, List.of());
    }

    /** Whether there was more than could be looked at. */
    boolean isCut() {
        return seen >= FILE_LIMIT;
    }

    private final class FolderWalk extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            String name = String.valueOf(folder.getFileName());
            return name.equals(".git") || name.equals(".svn")
                    ? FileVisitResult.SKIP_SUBTREE
                    : FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isRegularFile() && isWorthIt(file)) {
                List<String> list =
                        byName.computeIfAbsent(
                                String.valueOf(file.getFileName()), n -> new ArrayList<>(1));
                if (list.size() < SAME_NAME_LIMIT) {
                    list.add(file.toString());
                }
            }
            return ++seen < FILE_LIMIT ? FileVisitResult.CONTINUE : FileVisitResult.TERMINATE;
        }

        private static boolean isWorthIt(Path file) {
            String name = String.valueOf(file.getFileName());
            return !SOURCES.contains(name.substring(name.lastIndexOf('.') + 1));
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException cause) {
            return FileVisitResult.CONTINUE;
        }
    }
}
