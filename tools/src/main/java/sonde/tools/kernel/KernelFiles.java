package sonde.tools.kernel;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import sonde.sys.FileCalls;

/**
 * The files in which a kernel describes itself.
 *
 * @param root "/" of this machine, or a folder with files of another one
 */
public record KernelFiles(Path root) {
    /** This machine's. */
    public static final KernelFiles HERE = new KernelFiles(Path.of("/"));

    static final String DEBUGFS = "/sys/kernel/debug";
    private static final int MOST_BYTES = 1 << 20;
    private static final int MOST_CONFIG_BYTES = 8 << 20;
    private static final int MOST_ENTRIES = 10_000;

    Path path(String file) {
        return root.resolve(file.substring(1));
    }

    boolean has(String file) {
        return Files.exists(path(file));
    }

    /** The text without blanks at its ends; empty where it cannot be read. */
    Optional<String> text(String file) {
        try {
            byte[] bytes = FileCalls.readAll(path(file).toString(), MOST_BYTES);
            return Optional.of(new String(bytes, StandardCharsets.UTF_8).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    String text(String file, String otherwise) {
        return text(file).orElse(otherwise);
    }

    /** A decimal number; empty also for another text. */
    Optional<Long> number(String file) {
        return text(file).filter(text -> text.matches("-?\\d{1,18}")).map(Long::parseLong);
    }

    /** Names in a folder, sorted; none where it cannot be read. */
    List<String> names(String folder) {
        try (Stream<Path> entries = Files.list(path(folder))) {
            return entries.limit(MOST_ENTRIES)
                    .map(entry -> String.valueOf(entry.getFileName()))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    String release() {
        return text("/proc/sys/kernel/osrelease", "");
    }

    /** The words for the kernel; quotes keep blanks together, and what follows "--" is init's. */
    List<String> commandLine() {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean quoted = false;
        for (char c : (text("/proc/cmdline", "") + " ").toCharArray()) {
            quoted ^= c == '"';
            if (!Character.isWhitespace(c) || quoted) {
                word.append(c == '"' ? "" : String.valueOf(c));
            } else if (!word.isEmpty()) {
                if (word.toString().equals("--")) {
                    return words;
                }
                words.add(word.toString());
                word.setLength(0);
            }
        }
        return words;
    }

    /** The last value of a parameter of the command line; "" for one without a value. */
    Optional<String> parameter(String name) {
        // The kernel takes '-' and '_' for the same in names: parameqn() in kernel/params.c.
        String wanted = name.replace('-', '_');
        return commandLine().stream()
                .map(word -> word.split("=", 2))
                .filter(parts -> parts[0].replace('-', '_').equals(wanted))
                .map(parts -> parts.length == 1 ? "" : parts[1])
                .reduce((_, last) -> last);
    }

    /** Which of the symbols the kernel has; empty where it does not list them. */
    Optional<Set<String>> symbols(Set<String> wanted) {
        Set<String> found = new HashSet<>();
        try (BufferedReader lines =
                Files.newBufferedReader(path("/proc/kallsyms"), StandardCharsets.ISO_8859_1)) {
            boolean any = false;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                any = true;
                int name = line.lastIndexOf(' ') + 1;
                if (wanted.contains(line.substring(name))) {
                    found.add(line.substring(name));
                }
            }
            return any ? Optional.of(found) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The kernel's configuration, from where it lies on this machine. */
    KernelConfig config() {
        String release = release();
        List<String> places =
                List.of(
                        "/proc/config.gz",
                        "/boot/config-" + release,
                        "/lib/modules/" + release + "/config",
                        "/lib/modules/" + release + "/build/.config");
        for (String place : places) {
            try {
                byte[] bytes = FileCalls.readAll(path(place).toString(), MOST_CONFIG_BYTES);
                InputStream in = new ByteArrayInputStream(bytes);
                try (InputStream text = place.endsWith(".gz") ? new GZIPInputStream(in) : in) {
                    byte[] plain = text.readNBytes(MOST_CONFIG_BYTES);
                    return KernelConfig.parse(
                            place, new String(plain, StandardCharsets.ISO_8859_1));
                }
            } catch (IOException e) {
                continue; // the next one
            }
        }
        return KernelConfig.UNKNOWN;
    }
}
