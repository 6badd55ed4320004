package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A program without frame pointers that says by which calls it came to where it spends its time.
 */
@Tag("kernel")
@Tag("long")
class UnwoundProgramsTest {
    private static final Pattern GO_ENDS =
            Pattern.compile(
                    "^all goroutines (\\[stack cut] )?(runtime.(goexit|mstart|mcall|rt0_go"
                            + "|systemstack|morestack|nanotime1)|time.now|gogo)\\b");
    private static final Pattern GOROUTINE =
            Pattern.compile("goroutines runtime.goexit\\S* main.main.func1 main.\\w+");

    @TempDir Path folder;

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
    }

    private Path library() throws Exception {
        Path made =
                TargetProgram.compile(
                        folder,
                        "unwind",
                        "-O2",
                        "-fPIC",
                        "-shared",
                        "-DLIBRARY",
                        "-fomit-frame-pointer");
        return Files.move(made, folder.resolve("libunwound.so"));
    }

    @ParameterizedTest
    @CsvSource({
        "-O0, 'dwarf,16384'",
        "-O2, 'dwarf,16384'",
        "-O3, 'dwarf,16384'",
        "-O0, bpf",
        "-O2, bpf",
        "-O3, bpf"
    })
    void chainsAreWhatTheProgramSays(String level, String callGraph) throws Exception {
        Path library = library();
        Path program =
                TargetProgram.compile(
                        folder,
                        "unwind",
                        level,
                        "-fomit-frame-pointer",
                        "-Wl,--no-as-needed",
                        "-ldl");
        Recorded recorded =
                Recorded.record(
                        folder,
                        "unwound",
                        "--call-graph",
                        callGraph,
                        "--",
                        program.toString(),
                        "150",
                        library.toString());
        Json report = recorded.report("--oncpu");
        Json tree = report.object("sections").object("on_cpu_stacks");
        List<String> chains =
                recorded.outcome.out().lines().filter(line -> line.startsWith("chain ")).toList();
        assertThat(chains).hasSize(10);
        for (String line : chains) {
            String[] words = line.split(" ");
            assertThat(share(tree, words[1], words[2])).as(line).isGreaterThan(0.95);
        }
        assertThat(String.join("\n", report.texts("notes")))
                .doesNotContainPattern("[1-9]\\d*\\.\\d % of user stacks are cut")
                .doesNotContain("truncated");
    }

    /** Of the samples below a function, those with exactly that chain of callers. */
    private static double share(Json tree, String function, String callers) {
        List<String> chain = new ArrayList<>(Arrays.asList(callers.split("<")));
        long[] sums = new long[2];
        Recorded.walk(
                tree,
                (path, node) -> {
                    int at = path.indexOf(function);
                    if (at >= 0) {
                        long self = node.number("self");
                        sums[0] += self;
                        sums[1] += fits(path.subList(0, at), chain) ? self : 0;
                    }
                });
        assertThat(sums[0]).as(function).isPositive();
        return (double) sums[1] / sums[0];
    }

    /** Callers innermost first; {@code *} stands for any number of them. */
    private static boolean fits(List<String> path, List<String> chain) {
        int at = path.size() - 1;
        boolean any = false;
        for (String name : chain) {
            if (name.equals("*")) {
                any = true;
                continue;
            }
            while (any && at >= 0 && !path.get(at).equals(name)) {
                at--;
            }
            if (at < 0 || !path.get(at).equals(name)) {
                return false;
            }
            at--;
            any = false;
        }
        return path.subList(0, at + 1).contains("_start");
    }

    /** What the run time does on another stack ends there, and not in what happens to lie above. */
    @ParameterizedTest
    @ValueSource(strings = {"dwarf", "bpf"})
    void stacksOfGoProgramsEndWhereGoChangesThem(String unwinder) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/go")), "needs go");
        Path program = folder.resolve("goroutines");
        String source = TargetProgram.source("goroutines.go").toString();
        Sonde.Outcome made =
                Sonde.in(folder).execute(List.of("go", "build", "-o", program.toString(), source));
        assertThat(made.status()).as("%s", made).isZero();
        Recorded recorded =
                Recorded.record(
                        folder, "go", "--call-graph", unwinder, "--", program.toString(), "400");
        Json report = recorded.report("--oncpu", "--comm", "goroutines");
        Json tree = report.object("sections").object("on_cpu_stacks");
        long[] sums = new long[3];
        Recorded.walk(
                tree,
                (path, node) -> {
                    long self = node.number("self");
                    if (path.stream().anyMatch(name -> name.startsWith("runtime."))) {
                        sums[0] += self;
                        sums[1] += GO_ENDS.matcher(String.join(" ", path)).find() ? self : 0;
                    }
                    sums[2] += GOROUTINE.matcher(String.join(" ", path)).find() ? self : 0;
                });
        assertThat(sums[2]).as("of the goroutine, to its beginning").isPositive();
        assertThat((double) sums[1] / sums[0]).isGreaterThan(0.95);
        assertThat(String.join("\n", report.texts("notes"))).doesNotContain("broken off");
    }

    @Test
    void shortCopiesAreSaidToTruncate() throws Exception {
        Path program =
                TargetProgram.compile(folder, "unwind", "-O0", "-fomit-frame-pointer", "-ldl");
        Recorded recorded =
                Recorded.record(
                        folder,
                        "short",
                        "--call-graph",
                        "dwarf,256",
                        "--",
                        program.toString(),
                        "60");
        assertThat(String.join("\n", recorded.report("--oncpu").texts("notes")))
                .contains("of unwound user stacks are truncated", "--call-graph dwarf,BYTES");
    }

    @Test
    void convertedStacksAreWhole() throws Exception {
        Path program =
                TargetProgram.compile(folder, "unwind", "-O2", "-fomit-frame-pointer", "-ldl");
        Recorded recorded =
                Recorded.record(
                        folder, "conv", "--call-graph", "dwarf", "--", program.toString(), "60");
        Sonde.Outcome converted =
                Sonde.in(folder)
                        .run("convert", recorded.bundle.toString(), "out.folded", "--to", "folded");
        assertThat(converted.status()).as("%s", converted).isZero();
        assertThat(Files.readString(folder.resolve("out.folded")))
                .containsPattern("_start;.*;main;plain_outer;plain_inner;burn_plain");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "no perf here");
        assertThat(perfScript(recorded.bundle.resolve("perf.data")))
                .containsPattern(
                        "burn_plain\\s+\\S+ plain_inner\\s+\\S+ plain_outer\\s+\\S+ main\\s");
    }

    private static final String ASKING =
            """
            #define _GNU_SOURCE
            #include <unistd.h>
            #define OWN __attribute__((noinline, noclone))
            volatile long sink;
            OWN long asks(long n) { return syscall(110) + n; }
            OWN long middle(long n) { volatile char room[99]; room[n] = 1; return asks(n) + room[n]; }
            int main() {
                for (long i = 0; i < 99; i++) sink += middle(i);
                return 0;
            }
            """;

    /** System calls, where a filter lets half of them through, and a uprobe. */
    @Test
    void namedEventsHaveWholeStacks() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "no perf here");
        // Probes that another run left keep their names.
        String name = "asking" + ProcessHandle.current().pid();
        Path program = folder.resolve(name);
        Files.writeString(folder.resolve("asking.c"), ASKING);
        run("gcc", "-O2", "-fomit-frame-pointer", "-o", program.toString(), "asking.c");
        Sonde sonde = Sonde.in(folder);
        String probe = "probe_" + name + ":asks";
        assertThat(sonde.run("probe", "add", "-x", program.toString(), "asks").status()).isZero();
        try {
            Recorded recorded =
                    Recorded.record(
                            folder,
                            "named",
                            "-T",
                            "-e",
                            "syscalls:sys_enter_getppid",
                            "-T",
                            "-e",
                            "syscalls:sys_exit_getppid",
                            "-f",
                            "ret > 1",
                            "-e",
                            "syscalls:sys_exit_getuid",
                            "-f",
                            "ret < 0",
                            "-e",
                            probe,
                            "-f",
                            "common_pid > 0",
                            "--",
                            program.toString());
            String samples = perfScript(recorded.bundle.resolve("perf.data"), "comm,event,ip,sym");
            for (String event : List.of("sys_enter_getppid", "sys_exit_getppid", ":asks")) {
                // A header, then a line for each frame.
                List<String> own =
                        Arrays.stream(samples.split("\n(?=[^\t\n])"))
                                .filter(one -> one.startsWith("asking"))
                                .filter(one ->
                                        one.lines().limit(1).anyMatch(l -> l.contains(event)))
                                .toList();
                assertThat(own).as(event).hasSize(99);
                assertThat(own)
                        .allSatisfy(one ->
                                assertThat(one)
                                        .containsPattern("asks\\s+\\S+ middle\\s+\\S+ main\\s")
                                        .contains(" _start"));
            }
        } finally {
            Sonde.Outcome deleted = sonde.run("probe", "del", probe);
            assertThat(deleted.status()).as("%s", deleted).isZero();
        }
    }

    /** Callers of each burn_NAME of unusual.c and unusual.rs, innermost first. */
    private static final Map<String, String> UNUSUAL =
            Map.of(
                    "burn_coroutine",
                    "way_coroutine coroutine __start_context",
                    "burn_handler",
                    "way_handler handler __restore_rt .* raise interrupted alternate main .* _start",
                    "burn_vfork",
                    "way_vfork forks main .* _start",
                    "burn_tiny",
                    "way_tiny tiny start_thread (__)?clone3",
                    "burn_jump",
                    "way_jump jumps main .* _start",
                    "unusual::burn_rust",
                    "unusual::way_rust unusual::closures .*(main .* _start| (__)?clone3)");

    /**
     * Coroutines, handlers on a stack of their own, vfork, small threads, longjmp; static; Rust.
     */
    @ParameterizedTest
    @ValueSource(strings = {"-pie", "-static-pie", "rust"})
    void unusualStacksAreWhole(String kind) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "no perf here");
        Path program = folder.resolve("unusual");
        if (kind.equals("rust")) {
            String source = TargetProgram.source("unusual.rs").toString();
            String frames = "-Cforce-frame-pointers=no";
            List<String> rustc = List.of("rustc", "-O", frames, "-o", program.toString(), source);
            try {
                assertThat(Sonde.in(folder).execute(rustc).status()).isZero();
            } catch (IOException e) {
                assumeTrue(false, "needs rustc");
            }
        } else {
            TargetProgram.compile(folder, "unusual", "-O2", "-fomit-frame-pointer", kind);
        }
        Recorded recorded = Recorded.record(folder, "odd", "--", program.toString());
        Map<String, int[]> counts = new TreeMap<>();
        for (String sample : perfScript(recorded.bundle.resolve("perf.data")).split("\n\n")) {
            String chain =
                    sample.replaceAll("(?m)^\\s*\\w+ (.*)$", "$1").replace('\n', ' ').strip();
            String[] words = chain.split(" ", 2);
            String callers = UNUSUAL.get(words[0]);
            if (callers != null) {
                int[] count = counts.computeIfAbsent(words[0], _ -> new int[2]);
                count[0]++;
                boolean fits = words.length > 1 && words[1].matches("(?s)" + callers + "\\b.*");
                count[fits ? 1 : 0] += fits ? 1 : 0;
            }
        }
        assertThat(counts).hasSize(kind.equals("rust") ? 1 : 5);
        counts.forEach((name, count) -> {
            assertThat(count[0]).as(name).isGreaterThan(9);
            assertThat(count[1]).as(name).isGreaterThanOrEqualTo(count[0] * 95 / 100);
        });
    }

    private void run(String... command) throws Exception {
        Process process =
                new ProcessBuilder(command).directory(folder.toFile()).inheritIO().start();
        assertThat(process.waitFor()).isZero();
    }

    private static String perfScript(Path file) throws Exception {
        return perfScript(file, "ip,sym");
    }

    private static String perfScript(Path file, String fields) throws Exception {
        Process perf =
                new ProcessBuilder(
                                "perf",
                                "script",
                                "--no-inline",
                                "-i",
                                file.toString(),
                                "-F",
                                fields)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        String out = new String(perf.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(perf.waitFor()).isZero();
        return out;
    }
}
