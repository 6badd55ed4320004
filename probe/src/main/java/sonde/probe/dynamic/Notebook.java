package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which probes this program made, and where they stand in the source: {@code /run/sonde/probes},
 * which goes with the probes when the machine restarts. Without it probes still work; they are then
 * nobody's.
 */
final class Notebook {
    private static final int MOST_BYTES = 4 << 20;

    private final Path file;

    Notebook(Path file) {
        this.file = file;
    }

    static Notebook usual() {
        return new Notebook(Path.of("/run/sonde/probes"));
    }

    /** What tells two probes of one name apart. */
    static String key(String event, String place) {
        return event + " " + place.replaceFirst(":0x0+(?=[0-9a-f])", ":0x");
    }

    /** Sources by {@link #key}; empty when there are none or they may not be read. */
    Map<String, String> read() {
        Map<String, String> found = new LinkedHashMap<>();
        try {
            if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                    && Files.size(file) <= MOST_BYTES) {
                for (String line : Files.readString(file, StandardCharsets.UTF_8).split("\n")) {
                    int tab = line.indexOf('\t');
                    if (tab > 0) {
                        found.put(line.substring(0, tab), line.substring(tab + 1));
                    }
                }
            }
        } catch (IOException e) {
            // Nobody's probes, then.
            return found;
        }
        return found;
    }

    void add(Definition definition, String source) {
        Map<String, String> all = read();
        all.put(
                key(definition.event(), definition.place()),
                source.replace('\t', ' ').replace('\n', ' '));
        write(all);
    }

    void remove(String event) {
        Map<String, String> all = read();
        if (all.keySet().removeIf(key -> key.startsWith(event + " "))) {
            write(all);
        }
    }

    private void write(Map<String, String> all) {
        StringBuilder text = new StringBuilder();
        all.forEach((key, source) -> text.append(key).append('\t').append(source).append('\n'));
        try {
            Path folder = file.getParent();
            if (folder == null) {
                return;
            }
            if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectory(
                        folder,
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rwx------")));
            }
            Path fresh =
                    Files.createTempFile(
                            folder,
                            "probes",
                            "",
                            PosixFilePermissions.asFileAttribute(
                                    PosixFilePermissions.fromString("rw-------")));
            Files.writeString(fresh, text);
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            // The probe works without; list then shows the kernel's words.
            return;
        }
    }
}
