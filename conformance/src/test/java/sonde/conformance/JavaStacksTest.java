package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Stacks of Java programs as they are usually started: without frame pointers. */
@Tag("kernel")
@Tag("long")
class JavaStacksTest {
    private static final Path JDKS = Path.of("/usr/lib/jvm");

    @TempDir Path folder;

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
    }

    static List<Path> launchers() throws Exception {
        try (Stream<Path> homes = Files.list(JDKS)) {
            return homes.filter(home -> !Files.isSymbolicLink(home))
                    .map(home -> home.resolve("bin/java"))
                    .filter(Files::isExecutable)
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("launchers")
    void callsAreThoseOfTheProgram(Path java) throws Exception {
        Recorded recorded = recorded(java, "17", "Grind", "5000");
        assertThat(recorded.outcome.status()).as("%s", recorded.outcome).isZero();
        assertThat(recorded.bundle.resolve("frames.map")).isNotEmptyFile();
        Json tree = recorded.report("--oncpu").object("sections").object("on_cpu_stacks");
        long[] sums = new long[2];
        Recorded.walk(
                tree,
                (path, node) -> {
                    if (path.getLast().equals("Grind.grind")) {
                        long total = node.number("total");
                        sums[0] += total;
                        sums[1] += isWhole(path) ? total : 0;
                    }
                });
        // Less what the JVM itself needed.
        assertThat(sums[0]).isGreaterThan(tree.object("root").number("total") / 2);
        // What came before the first tables were made may be cut.
        assertThat(sums[1]).isGreaterThan(sums[0] * 9 / 10);
        perfNamesThem(recorded.bundle);
    }

    /** Compiles a program for a release of Java, and records it. */
    private Recorded recorded(Path java, String release, String program, String argument)
            throws Exception {
        String compiler = Path.of(System.getProperty("java.home"), "bin/javac").toString();
        String classes = folder.toString();
        String source = TargetProgram.source(program + ".java").toString();
        Sonde.Outcome compiled =
                Sonde.in(folder)
                        .execute(List.of(compiler, "--release", release, "-d", classes, source));
        assertThat(compiled.status()).as("%s", compiled).isZero();
        return Recorded.record(
                folder, "java", "--", java.toString(), "-cp", classes, program, argument);
    }

    /** Callers in the heap are no frames of the stack; they are told, not left out. */
    @ParameterizedTest
    @MethodSource("launchers")
    void virtualThreadsHaveCallersInTheHeap(Path java) throws Exception {
        String version = Files.readString(java.resolveSibling("../release").normalize());
        assumeTrue(!version.contains("JAVA_VERSION=\"17"), "Java 17 has no virtual threads");
        Recorded recorded = recorded(java, "21", "Virtual", "1200");
        assertThat(recorded.meta().texts("notes").toString()).contains("virtual threads lack");
        Json tree = recorded.report("--oncpu").object("sections").object("on_cpu_stacks");
        long[] sums = new long[2];
        Recorded.walk(
                tree,
                (path, node) -> {
                    int first = path.indexOf("Virtual.level");
                    if (first > 0 && path.getLast().startsWith("Virtual.")) {
                        boolean isTold = path.get(first - 1).equals("Virtual.task");
                        boolean isInHeap = path.get(first - 1).startsWith("[callers of a virtual");
                        sums[0] += node.number("self");
                        sums[1] += isTold || isInHeap ? node.number("self") : 0;
                    }
                });
        assertThat(sums[0]).isPositive();
        assertThat(sums[1]).isGreaterThan(sums[0] * 9 / 10);
    }

    /** perf reads the names without options: of the samples themselves, and in the stacks. */
    private void perfNamesThem(Path bundle) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "needs perf");
        String file = bundle.resolve("perf.data").toString();
        String self =
                Sonde.in(folder)
                        .execute(
                                List.of(
                                        "perf",
                                        "report",
                                        "-i",
                                        file,
                                        "--stdio",
                                        "--no-children",
                                        "-g",
                                        "none",
                                        "--sort",
                                        "sym",
                                        "--percent-limit",
                                        "20"))
                        .out();
        assertThat(self).contains("[.] Grind.grind\n");
        String stacks =
                Sonde.in(folder)
                        .execute(List.of("perf", "script", "-i", file, "-F", "ip,sym"))
                        .out();
        assertThat(stacks).containsPattern("Grind.grind\\n\\s+\\p{XDigit}+ Grind.work\\n");
    }

    private static boolean isWhole(List<String> path) {
        int main = path.indexOf("Grind.main");
        List<String> calls = path.subList(Math.max(0, main), path.size());
        return path.contains("start_thread")
                && calls.equals(List.of("Grind.main", "Grind.work", "Grind.grind"));
    }
}
