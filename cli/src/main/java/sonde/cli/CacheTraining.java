package sonde.cli;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import sonde.event.result.Listing;
import sonde.open.ReportSource;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportRecipe;
import sonde.view.TerminalStyle;
import sonde.view.TextRenderer;

/**
 * What the JVM runs once to make the start-up cache: the commands' usual roads, so that their
 * classes lie in it linked. A short recording into a folder of its own is part of it; what this
 * user may not do fails quietly, nothing is left behind.
 */
final class CacheTraining {
    private static final String QUERY =
            "SELECT name, count(*), min(utid) FROM events JOIN thread_state USING (utid)"
                    + " GROUP BY name";

    /** They end by themselves where they may run. */
    private static final List<String> SCRIPTS =
            List.of(
                    "begin { printf(\"%d %s\\n\", pid, comm); @x[comm] = count(); exit(); }",
                    "tracepoint:syscalls:sys_enter_openat { printf(\"%s\\n\", str(args.filename)); }"
                            + " begin { @ = hist(nsecs); @s[kstack] = count(); exit(); }");

    private CacheTraining() {}

    /**
     * Starts the making of the cache that the launcher did not find, in a session of its own that
     * outlives this process and has none of its descriptors.
     */
    static void startWhenWanted() {
        String cache = System.getenv("SONDE_CACHE");
        if (cache == null) {
            return;
        }
        String script = System.getProperty("sonde.home") + "/app/train.sh";
        ProcessBuilder trainer = new ProcessBuilder("setsid", script, cache);
        trainer.environment().keySet().removeIf(name -> name.startsWith("SONDE_"));
        trainer.redirectInput(new File("/dev/null"))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD);
        try {
            trainer.start();
        } catch (IOException e) {
            // Without setsid the start stays slower.
        }
    }

    static int run(List<String> command) {
        Main.quietly("--version");
        Main.quietly("list");
        Main.quietly("list", "-v", "sched:sched_switch");
        CommandTable.all().forEach(name -> Main.quietly(("help " + name).split(" ")));
        Main.quietly("elf", "/bin/sh");
        Main.quietly("record", "--plan", "--", "true");
        for (String script : SCRIPTS) {
            Main.quietly("trace", "--dump=code", script);
            Main.quietly("trace", script);
        }
        try {
            Path folder = Files.createTempDirectory("sonde-training");
            try {
                load(folder);
                record(folder, command);
            } finally {
                delete(folder);
            }
        } catch (IOException e) {
            return ExitCode.IMPOSSIBLE;
        }
        return ExitCode.DONE;
    }

    /** Objects and types; the object has each of what most objects have. */
    private static void load(Path folder) throws IOException {
        Main.quietly("bpf", "btf", "dump", "name", "task_struct", "member", "pid");
        Main.quietly("bpf", "prog", "list");
        Main.quietly("bpf", "map", "list");
        Path object = folder.resolve("training.bpf.o");
        try (InputStream in = CacheTraining.class.getResourceAsStream("training.bpf.o")) {
            if (in != null) {
                Files.copy(in, object);
                Main.quietly("bpf", "load", object.toString(), "--attach");
            }
        }
    }

    private static void record(Path folder, List<String> command) {
        String bundle = folder.resolve("t.sonde").toString();
        // The command is taken from the process's own arguments, where it stands behind --train.
        List<String> record = new ArrayList<>(List.of("record", "--json", "-o", bundle, "--"));
        record.addAll(command);
        Main.quietly(record.toArray(String[]::new));
        String nowhere = "/dev/null";
        for (List<String> follows :
                List.of(
                        List.of("syscalls", "-f", "-o", nowhere, "--"),
                        List.of("calls", "-f", "-o", nowhere, "--"),
                        List.of("calls", "-c", "-o", nowhere, "--"),
                        List.of("heap", "--"),
                        List.of("leaks", "--settle", "0s", "--"))) {
            List<String> words = new ArrayList<>(follows);
            words.addAll(command);
            Main.quietly(words.toArray(String[]::new));
        }
        Main.quietly("report", bundle);
        Main.quietly("report", bundle, "--json");
        Main.quietly("report", bundle, "--events");
        Main.quietly("report", bundle, "--events", "--json");
        Main.quietly("query", "--no-cache", bundle, QUERY);
        Main.quietly("query", bundle, QUERY);
        Main.quietly("query", bundle, QUERY);
        list(folder, bundle);
    }

    /** Lists a recording of each format. */
    private static void list(Path folder, String bundle) {
        String trace = bundle + "/trace.dat";
        String perf = folder.resolve("t.data").toString();
        String ctf = folder.resolve("t.ctf").toString();
        Main.quietly("convert", trace, perf);
        Main.quietly("convert", trace, ctf, "--to", "ctf1");
        for (String recording : List.of(trace, perf, ctf)) {
            try (ReportSource source = ReportSource.open(Path.of(recording))) {
                Listing listing = new ReportRecipe(ReportOptions.of(List.of())).events(source);
                OutputStream nowhere = OutputStream.nullOutputStream();
                new TextRenderer().render(listing, nowhere, TerminalStyle.PLAIN);
            } catch (IOException e) {
                continue; // this user may not record, or a format is missing
            }
        }
        open(folder.resolve("t.pftrace"), trace);
    }

    /** Opens a format whose events are put into columns of our own, as many formats' are. */
    private static void open(Path perfetto, String trace) {
        Main.quietly("convert", trace, perfetto.toString());
        try (ReportSource source = ReportSource.open(perfetto)) {
            source.notes();
        } catch (IOException e) {
            return;
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
