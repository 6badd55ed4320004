package sonde.tools.symbolize;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Source files that debugging information names.
 *
 * @param folder has them at the ends of their paths; null: they are where they were compiled
 */
public record SourceTree(@Nullable Path folder) {
    private static final long MOST_BYTES = 16 << 20;
    private static final int MOST_LETTERS = 500;

    /** A line of a file. */
    public record SourceLine(int number, String text) {}

    /** Lines around a line; none where the file is not there. */
    public List<SourceLine> around(String file, int line, int before) throws IOException {
        Path found = line < 1 ? null : find(file).orElse(null);
        if (found == null || Files.size(found) > MOST_BYTES) {
            return List.of();
        }
        // Old sources are not all UTF-8.
        String[] all = Files.readString(found, StandardCharsets.ISO_8859_1).split("\n", -1);
        List<SourceLine> lines = new ArrayList<>();
        int end = line > all.length ? 0 : (int) Math.min(all.length, (long) line + before);
        for (int at = Math.max(1, line - before); at <= end; at++) {
            String text = all[at - 1];
            byte[] bytes =
                    text.substring(0, Math.min(MOST_LETTERS, text.length()))
                            .getBytes(StandardCharsets.ISO_8859_1);
            lines.add(new SourceLine(at, new String(bytes, StandardCharsets.UTF_8)));
        }
        return lines;
    }

    /** The file; in a folder at the longest end of its path, without its last name alone. */
    private Optional<Path> find(String file) {
        Path named;
        try {
            named = Path.of(file).normalize();
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
        Path in = folder == null ? null : folder.normalize();
        if (in == null || named.isAbsolute() && named.startsWith(in)) {
            return Optional.of(named).filter(Files::isRegularFile);
        }
        int names = named.getNameCount();
        for (int i = 0; i == 0 || i < names - 1; i++) {
            Path whole = in.resolve(named.subpath(i, names)).normalize();
            if (whole.startsWith(in) && Files.isRegularFile(whole)) {
                return Optional.of(whole);
            }
        }
        return Optional.empty();
    }
}
