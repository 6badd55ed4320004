package sonde.tools.elf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * A folder that stands for the root: links in it lead within it, as they do once it is booted.
 *
 * @param folder empty for our own root
 */
record RootFolder(String folder) {
    private static final int LINK_LIMIT = 40;
    private static final int LIMIT_BYTES = 1 << 20;

    /** The file of ours that a path in it means; of one that does not exist, where it would be. */
    Path real(String path) {
        if (folder.isEmpty()) {
            return Path.of(path);
        }
        Deque<String> left = new ArrayDeque<>(List.of(path.split("/", -1)));
        Path root = Path.of(folder);
        Path at = root;
        int links = 0;
        while (!left.isEmpty()) {
            String part = left.pop();
            if (part.isEmpty() || part.equals(".")) {
                continue;
            }
            if (part.equals("..")) {
                Path parent = at.getParent();
                at = at.equals(root) || parent == null ? root : parent;
                continue;
            }
            Path next = at.resolve(part);
            if (Files.isSymbolicLink(next) && links++ < LINK_LIMIT) {
                String target = target(next);
                at = target.startsWith("/") ? root : at;
                String[] parts = target.split("/", -1);
                for (int i = parts.length - 1; i >= 0; i--) {
                    left.push(parts[i]);
                }
            } else {
                at = next;
            }
        }
        return at;
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return "";
        }
    }

    boolean isFile(String path) {
        try {
            return Files.isRegularFile(real(path));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    boolean isFolder(String path) {
        try {
            return Files.isDirectory(real(path));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** The lines of a file; none when it cannot be read. */
    List<String> lines(String path) {
        try {
            Path file = real(path);
            return Files.isRegularFile(file) && Files.size(file) <= LIMIT_BYTES
                    ? Files.readAllLines(file, StandardCharsets.ISO_8859_1)
                    : List.of();
        } catch (IOException | InvalidPathException e) {
            return List.of();
        }
    }
}
