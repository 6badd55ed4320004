package sonde.sys;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A table that lies beside a class as text. It begins with comments, which say what a line holds
 * and where the table comes from: {@code # number name. Source: errno.h (Linux 6.18)}.
 */
public final class ResourceTable {
    private ResourceTable() {}

    /**
     * The lines of a table without those that are empty or begin with {@code #}. Streams are
     * avoided: their first use alone costs a cold JVM more than a table does.
     *
     * @param resource from {@code getResourceAsStream} of the class that the table belongs to; is
     *     closed
     */
    public static List<String> lines(@Nullable InputStream resource) {
        try (InputStream in = Objects.requireNonNull(resource, "a table is missing")) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            List<String> lines = new ArrayList<>();
            int start = 0;
            while (start < text.length()) {
                int end = text.indexOf('\n', start);
                end = end < 0 ? text.length() : end;
                if (end > start && text.charAt(start) != '#') {
                    lines.add(text.substring(start, end));
                }
                start = end + 1;
            }
            return lines;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A table of lines {@code number name…} as an array; numbers without an entry are empty. */
    static String[] numbered(String resource, int size) {
        String[] table = new String[size];
        Arrays.fill(table, "");
        for (String line : lines(ResourceTable.class.getResourceAsStream(resource))) {
            int blank = line.indexOf(' ');
            table[Integer.parseInt(line, 0, blank, 10)] = line.substring(blank + 1);
        }
        return table;
    }
}
