package sonde.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the JVM runs once to make the start-up cache: the commands' usual roads, so that their
 * classes lie in it linked and their hot methods are known. A short recording into a folder of its
 * own is part of it; what this user may not do fails quietly, nothing is left behind.
 */
final class Training {
    private Training() {}

    static int run() {
        Main.quietly("--version");
        Main.quietly("list");
        Main.quietly("list", "-v", "sched:sched_switch");
        Main.quietly("record", "--help");
        Main.quietly("record", "--plan", "--", "true");
        try {
            Path folder = Files.createTempDirectory("sonde-training");
            try {
                record(folder);
            } finally {
                delete(folder);
            }
        } catch (IOException e) {
            return ExitCode.IMPOSSIBLE;
        }
        return ExitCode.DONE;
    }

    private static void record(Path folder) {
        String bundle = folder.resolve("t.sonde").toString();
        // The last word is the command: it is taken from the process's own arguments.
        Main.quietly("record", "--json", "-o", bundle, "--", "true");
        for (List<String> sections :
                List.of(List.<String>of(), List.of("--json"), List.of("--events"))) {
            String[] args = new String[2 + sections.size()];
            args[0] = "report";
            args[1] = bundle;
            for (int i = 0; i < sections.size(); i++) {
                args[2 + i] = sections.get(i);
            }
            Main.quietly(args);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
