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
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isEmpty() && line.charAt(0) != '#')
                    .forEach(line -> {
                        int blank = line.indexOf(' ');
                        int number = Integer.parseInt(line, 0, blank, 10);
                        table[number] = line.substring(blank + 1);
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return table;
    }
}
