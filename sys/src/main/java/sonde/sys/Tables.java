package sonde.sys;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * Tables of numbers that lie beside the classes as text: {@code number name…} a line, # comments.
 */
final class Tables {
    private Tables() {}

    /** Reads a table into an array; numbers without an entry hold the empty string. */
    static String[] load(String resource, int size) {
        String[] table = new String[size];
        Arrays.fill(table, "");
        try (InputStream in = Objects.requireNonNull(Tables.class.getResourceAsStream(resource))) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            // No streams: their first use alone costs a cold JVM more than the table does.
            int start = 0;
            while (start < text.length()) {
                int end = text.indexOf('\n', start);
                end = end < 0 ? text.length() : end;
                int blank = text.indexOf(' ', start);
                if (text.charAt(start) != '#' && blank > start && blank < end) {
                    int number = Integer.parseInt(text, start, blank, 10);
                    table[number] = text.substring(blank + 1, end);
                }
                start = end + 1;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return table;
    }
}
