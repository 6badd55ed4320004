package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import sonde.sys.Fd;
import sonde.sys.FileCalls;

/**
 * Which probes this program made, and where they stand in the source: {@code /run/sonde/probes},
 * which goes with the probes when the machine restarts. Without it probes still work; they are then
 * nobody's.
 */
final class ProbeRegistry {
    private static final int MOST_BYTES = 4 << 20;

    private final Path file;

    ProbeRegistry(Path file) {
        this.file = file;
    }

    static ProbeRegistry usual() {
        return new ProbeRegistry(Path.of("/run/sonde/probes"));
    }

    /** What tells two probes of one name apart. */
    static String key(String event, String place) {
        return event + " " + place.replaceFirst(":0x0+(?=[0-9a-f])", ":0x");
    }

    /** Sources, with files, by {@link #key}; empty when there are none or they may not be read. */
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

    void add(ProbeDefinition definition, String source) {
        add(definition, source, "");
    }

    /**
     * Adds a probe with the identity of its file, which tells it from a later one; empty for none.
     */
    void add(ProbeDefinition definition, String source, String file) {
        StringBuilder types = new StringBuilder();
        for (ProbeArgument one : definition.arguments()) {
            if (!one.shown().isEmpty()) {
                types.append('\t').append(plain(one.text())).append('\t').append(one.shown());
            }
        }
        String rest = file.isEmpty() && types.isEmpty() ? "" : "\t" + plain(file) + types;
        String key = key(definition.event(), definition.place());
        change(all -> all.put(key, plain(source) + rest));
    }

    private static String plain(String text) {
        return text.replace('\t', ' ').replace('\n', ' ');
    }

    /** The part of a line that says where a probe stands. */
    static String source(String line) {
        return line.split("\t", -1)[0];
    }

    /** The part of a line that says which file it was; empty where it does not. */
    static String file(String line) {
        String[] parts = line.split("\t", -1);
        return parts.length > 1 ? parts[1] : "";
    }

    static boolean hasTypes(String line) {
        return line.split("\t", -1).length > 2;
    }

    /**
     * Types of a probe's fields that the kernel does not know.
     *
     * @param arguments as the kernel has them: another tool may have set another probe there
     */
    static Map<String, String> types(String line, String arguments) {
        Map<String, String> types = new LinkedHashMap<>();
        List<String> known = List.of(arguments.split(" ", -1));
        String[] parts = line.split("\t", -1);
        for (int i = 2; i + 1 < parts.length; i += 2) {
            if (known.contains(parts[i])) {
                types.put(parts[i].substring(0, parts[i].indexOf('=')), parts[i + 1]);
            }
        }
        return types;
    }

    void remove(String event) {
        Predicate<String> isOf = key -> key.startsWith(event + " ");
        if (read().keySet().stream().anyMatch(isOf)) {
            change(all -> all.keySet().removeIf(isOf));
        }
    }

    /** Others may define probes at the same time: who holds the lock of the folder writes. */
    private void change(Consumer<Map<String, String>> edit) {
        try {
            Path folder = file.getParent();
            if (folder == null) {
                return;
            }
            made(folder);
            int held = FileCalls.open(folder.toString(), FileCalls.O_DIRECTORY);
            try {
                Fd.flock(held, Fd.LOCK_EX);
                removeDrafts(folder);
                Map<String, String> all = read();
                edit.accept(all);
                write(folder, all);
            } finally {
                Fd.discard(held);
            }
        } catch (IOException e) {
            // The probe works without; list then shows the kernel's words.
            return;
        }
    }

    /** Who writes one holds the lock: these are of processes that were killed. */
    private static void removeDrafts(Path folder) throws IOException {
        try (DirectoryStream<Path> drafts = Files.newDirectoryStream(folder, "probes?*")) {
            for (Path draft : drafts) {
                Files.deleteIfExists(draft);
            }
        }
    }

    private static void made(Path folder) throws IOException {
        try {
            Files.createDirectory(
                    folder,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
    }

    private void write(Path folder, Map<String, String> all) throws IOException {
        StringBuilder text = new StringBuilder();
        all.forEach((key, source) -> text.append(key).append('\t').append(source).append('\n'));
        Path fresh =
                Files.createTempFile(
                        folder,
                        "probes",
                        "",
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rw-------")));
        try {
            Files.writeString(fresh, text);
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }
}
