package sonde.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the JVM runs once to make the start-up cache: the commands' usual roads, so that their
 * classes lie in it linked and their hot methods are known. A short recording into a folder of its
 * own is part of it; what this user may not do fails quietly, nothing is left behind.
 */
final class Training {
    private static final int LISTINGS = 8;

    private static final String QUERY =
            "SELECT name, count(*), min(utid) FROM events JOIN thread_state USING (utid)"
                    + " GROUP BY name";

    private Training() {}

    static int run(List<String> command) {
        Main.quietly("--version");
        Main.quietly("list");
        Main.quietly("list", "-v", "sched:sched_switch");
        Main.quietly("record", "--help");
        Main.quietly("record", "--plan", "--", "true");
        try {
            Path folder = Files.createTempDirectory("sonde-training");
            try {
                record(folder, command);
            } finally {
                delete(folder);
            }
        } catch (IOException e) {
            return ExitCode.IMPOSSIBLE;
        }
        return ExitCode.DONE;
    }

    private static void record(Path folder, List<String> command) {
        String bundle = folder.resolve("t.sonde").toString();
        // The command is taken from the process's own arguments, where it stands behind --train.
        List<String> record = new ArrayList<>(List.of("record", "--json", "-o", bundle, "--"));
        record.addAll(command);
        Main.quietly(record.toArray(String[]::new));
        Main.quietly("report", bundle);
        Main.quietly("report", bundle, "--json");
        // The compiler is to find whole profiles of what runs once for each of millions of rows.
        for (int i = 0; i < LISTINGS; i++) {
            Main.quietly("report", bundle, "--events");
            Main.quietly("report", bundle + "/trace.dat", "--events");
        }
        Main.quietly("report", bundle, "--events", "--json");
        Main.quietly("query", "--no-cache", bundle, QUERY);
        Main.quietly("query", bundle, QUERY);
        Main.quietly("query", bundle, QUERY);
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
