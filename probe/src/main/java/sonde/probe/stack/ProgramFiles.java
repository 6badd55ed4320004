package sonde.probe.stack;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sonde.binary.elf.DynamicTable;
import sonde.binary.elf.ElfFile;
import sonde.sys.TargetFile;

/** Which files a program will map: its loader and libraries, or the interpreter of a script. */
public final class ProgramFiles {
    private static final int MOST_WORDS = 24;
    private static final int MOST_LIBRARIES = 200;
    private static final long MOST_BYTES = 4L << 30;
    private static final int MOST_LINE = 256;
    private static final List<String> FOLDERS =
            List.of(
                    "/lib/x86_64-linux-gnu",
                    "/usr/lib/x86_64-linux-gnu",
                    "/lib64",
                    "/usr/lib64",
                    "/lib",
                    "/usr/lib");

    /** What starts a JVM, and what every JVM then opens by name, beside it. */
    private static final String JAVA_LAUNCHER = "/libjli.so";

    private static final List<String> JAVA_LIBRARIES =
            List.of(
                    "server/libjvm.so",
                    "libjava.so",
                    "libjimage.so",
                    "libverify.so",
                    "libzip.so",
                    "libnio.so",
                    "libnet.so");

    private static final long DT_RPATH = 15;
    private static final long DT_RUNPATH = 29;

    private ProgramFiles() {}

    /**
     * A program and its loader and libraries, as far as its headers name them.
     *
     * @param words of a command; programs among the first of them count, too, since the first may
     *     start another one (timeout, taskset, env)
     */
    public static List<String> of(List<String> words) {
        Deque<String> left =
                words.stream()
                        // sh -c 'one; another'
                        .flatMap(word -> Stream.of(word.split("[\\s;|&()]+")))
                        .filter(word -> !word.isEmpty())
                        .limit(MOST_WORDS)
                        .distinct()
                        .map(ProgramFiles::onPath)
                        .filter(ProgramFiles::isProgram)
                        .collect(Collectors.toCollection(ArrayDeque::new));
        Set<String> seen = new HashSet<>(left);
        List<String> all = new ArrayList<>();
        while (!left.isEmpty() && seen.size() < MOST_LIBRARIES) {
            String path = left.pop();
            all.add(path);
            for (String needed : needed(path)) {
                if (seen.add(needed)) {
                    left.add(needed);
                }
            }
        }
        return all;
    }

    /** The file of a command as a shell finds it; the word itself when it finds none. */
    static String onPath(String word) {
        if (!word.contains("/")) {
            for (String folder : System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":")) {
                Path file = Path.of(folder, word);
                if (Files.isExecutable(file)) {
                    return file.toString();
                }
            }
        }
        return word;
    }

    static boolean isProgram(String path) {
        return Files.isRegularFile(Path.of(path)) && Files.isExecutable(Path.of(path));
    }

    /** Paths of what a file names as needed, of those in its own and in the usual folders. */
    static List<String> needed(String path) {
        List<String> found = new ArrayList<>();
        try (TargetFile file = TargetFile.openTrusted(path, MOST_BYTES)) {
            if (!ElfFile.isElf(file.bytes())) {
                String line = firstLine(file);
                for (String word :
                        line.startsWith("#!") ? line.substring(2).split("[ \t]+") : new String[0]) {
                    if (!word.isEmpty() && !word.startsWith("-")) {
                        found.add(onPath(word));
                    }
                }
                return found;
            }
            ElfFile elf = ElfFile.of(file);
            elf.interpreter().ifPresent(found::add);
            List<String> folders = new ArrayList<>(ownFolders(elf, path));
            folders.addAll(FOLDERS);
            for (String name : elf.dynamic().map(DynamicTable::needed).orElse(List.of())) {
                folders.stream()
                        .map(folder -> Path.of(folder, name))
                        .filter(Files::isRegularFile)
                        .findFirst()
                        .ifPresent(library -> found.add(library.toString()));
            }
            if (path.endsWith(JAVA_LAUNCHER)) {
                String folder = path.substring(0, path.length() - JAVA_LAUNCHER.length() + 1);
                JAVA_LIBRARIES.stream()
                        .map(library -> folder + library)
                        .filter(library -> Files.isRegularFile(Path.of(library)))
                        .forEach(found::add);
            }
        } catch (IOException | RuntimeException | InternalError e) {
            // Its tables are made once the kernel's program meets it.
        }
        return found;
    }

    /** DT_RPATH and DT_RUNPATH. */
    private static List<String> ownFolders(ElfFile elf, String path) throws IOException {
        Path folder = Path.of(path).toRealPath().getParent();
        List<String> folders = new ArrayList<>();
        for (long tag : new long[] {DT_RPATH, DT_RUNPATH}) {
            for (String text : elf.dynamic().map(all -> all.texts(tag)).orElse(List.of())) {
                for (String one : text.split(":")) {
                    folders.add(
                            one.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", "" + folder));
                }
            }
        }
        return folders;
    }

    private static String firstLine(TargetFile file) throws IOException {
        String head = new String(file.read(MOST_LINE), StandardCharsets.ISO_8859_1);
        int end = head.indexOf('\n');
        return end < 0 ? head : head.substring(0, end);
    }
}
