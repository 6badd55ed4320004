package sonde.tools.elf;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.symbol.files.LdSoCache.CachedLibrary;

/** What ldconfig knows: {@code ld.so.cache} by name, and the folders of {@code ld.so.conf}. */
final class LibraryLookup {
    private static final int DEPTH_LIMIT = 8;
    private static final int FILE_LIMIT = 1000;

    private LibraryLookup() {}

    /** Paths by name of library, in the order of the cache. */
    static Map<String, List<String>> paths(List<CachedLibrary> cache) {
        Map<String, List<String>> paths = new HashMap<>();
        for (CachedLibrary one : cache) {
            boolean known = one.hwcap() == 0 || one.hwcap() >>> 62 == 1;
            if (known && !one.name().isEmpty()) {
                paths.computeIfAbsent(one.name(), n -> new ArrayList<>()).add(one.path());
            }
        }
        return paths;
    }

    /** The folders that {@code ld.so.conf} and what it includes name (ldconfig(8)). */
    static List<String> folders(RootFolder root, String configuration) {
        Set<String> folders = new LinkedHashSet<>();
        folders(root, configuration, folders, new int[] {0}, 0);
        return List.copyOf(folders);
    }

    private static void folders(
            RootFolder root, String configuration, Set<String> folders, int[] files, int depth) {
        if (depth > DEPTH_LIMIT || ++files[0] > FILE_LIMIT) {
            return;
        }
        for (String line : root.lines(configuration)) {
            String plain = line.replaceFirst("#.*", "").strip();
            if (plain.startsWith("include ") || plain.startsWith("include\t")) {
                String pattern = plain.substring(8).strip();
                String parent = configuration.substring(0, configuration.lastIndexOf('/') + 1);
                String full = pattern.startsWith("/") ? pattern : parent + pattern;
                for (String file : matches(root, full)) {
                    folders(root, file, folders, files, depth + 1);
                }
            } else if (plain.startsWith("/")) {
                folders.add(plain.replaceFirst("=.*", "").replaceFirst("(?<=.)/+$", ""));
            }
        }
    }

    private static List<String> matches(RootFolder root, String pattern) {
        int slash = pattern.lastIndexOf('/');
        String folder = pattern.substring(0, slash);
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> list =
                Files.newDirectoryStream(root.real(folder), pattern.substring(slash + 1))) {
            list.forEach(file -> names.add(folder + "/" + file.getFileName()));
        } catch (IOException | RuntimeException e) {
            // No such folder, or no pattern: nothing is included.
            return List.of();
        }
        names.sort(null);
        return names;
    }
}
