package sonde.conformance.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import sonde.testkit.Shard;
import sonde.testkit.guest.Guest;
import sonde.testkit.guest.GuestKernel;
import sonde.testkit.guest.GuestModules;
import sonde.testkit.guest.GuestTests;
import sonde.testkit.guest.GuestTests.Result;
import sonde.testkit.guest.GuestTests.Status;

/**
 * Shows every test of the list as one of its own, from a guest of each kernel. The guests run side
 * by side and behind everything else: an emulated one takes one CPU for minutes, and the tests in
 * front of this one leave half of the machine idle.
 */
@Tag("guest")
final class GuestTest {
    private static final int TIMEOUT_SECONDS = 900;

    private static final Path BUILD = Path.of(System.getProperty("sonde.root")).resolve("build");

    /** What is compiled here and run there. */
    private static final Path COMPILED = BUILD.resolve("compiled-scripts");

    private static final Map<String, Future<GuestTests.Outcome>> RUNS = new HashMap<>();
    private static final List<String> SERIES = List.of("6.1", "6.12");

    /** Begins a line of the list that takes long. */
    private static final String MARK = "~ ";

    /** Boots the guests when a run begins that asks for them. */
    public static final class Boot implements TestExecutionListener {
        @Override
        public void testPlanExecutionStarted(TestPlan plan) {
            boolean asked = plan.countTestIdentifiers(Boot::isOfGuests) > 0;
            if (!asked || Guest.lacks().isPresent()) {
                return;
            }
            ExecutorService sideBySide = Executors.newFixedThreadPool(SERIES.size());
            Future<Path> compiled = sideBySide.submit(() -> CompiledScripts.write(COMPILED));
            for (String series : SERIES) {
                RUNS.put(series, sideBySide.submit(() -> runList(series, compiled.get())));
            }
            sideBySide.shutdown();
        }

        private static boolean isOfGuests(TestIdentifier test) {
            return test.getUniqueId().contains(GuestTest.class.getName());
        }
    }

    @BeforeAll
    static void present() {
        Guest.lacks().ifPresent(Assumptions::abort);
    }

    @TestFactory
    Stream<DynamicTest> linux61() throws Exception {
        return run("6.1");
    }

    @TestFactory
    Stream<DynamicTest> linux612() throws Exception {
        return run("6.12");
    }

    private static GuestTests.Outcome runList(String series, Path compiled)
            throws IOException, InterruptedException {
        GuestKernel kernel = GuestKernel.of(series);
        String root = System.getProperty("sonde.root");
        Path source = Path.of(root).resolve("tools/src/test/resources/sonde/tools/leaks/leaky.c");
        return GuestTests.run(
                kernel,
                classpath(),
                Map.of(
                        "sonde.root",
                        root,
                        "sonde.guest.release",
                        kernel.release(),
                        "sonde.guest.leaky",
                        GuestModules.build(kernel, source).toString(),
                        CompiledScripts.FOLDER,
                        compiled.toString()),
                classes(series),
                TIMEOUT_SECONDS);
    }

    private static Stream<DynamicTest> run(String series) throws Exception {
        GuestKernel kernel = GuestKernel.of(series);
        GuestTests.Outcome outcome = Objects.requireNonNull(RUNS.get(series)).get();
        writeTimes(series, outcome);
        List<DynamicTest> tests = new ArrayList<>();
        tests.add(
                DynamicTest.dynamicTest(
                        "the list was run to its end",
                        () ->
                                assertThat(outcome.step().exitCode())
                                        .as(outcome.step().output())
                                        .isZero()));
        for (Result result : outcome.results()) {
            tests.add(DynamicTest.dynamicTest(result.name(), () -> show(result)));
        }
        return tests.stream();
    }

    /** Leaves what each test took, slowest first, in {@code build/guest-SERIES.txt}. */
    private static void writeTimes(String series, GuestTests.Outcome outcome) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(
                "%s, up after %.1f s, tests %.1f s"
                        .formatted(
                                outcome.guest().accelerator(),
                                outcome.guest().bootSeconds(),
                                outcome.step().seconds()));
        outcome.results().stream()
                .sorted(Comparator.comparingLong(Result::millis).reversed())
                .forEach(result -> lines.add(result.millis() + " ms " + result.name()));
        Files.write(BUILD.resolve("guest-" + series + ".txt"), lines);
    }

    private static void show(Result result) {
        Assumptions.assumeFalse(result.status() == Status.SKIPPED, result.detail());
        assertThat(result.status()).as(result.detail()).isEqualTo(Status.PASSED);
    }

    /** This JVM's class path, and the tests of the other modules. */
    private static String classpath() throws IOException {
        StringBuilder path = new StringBuilder(System.getProperty("java.class.path"));
        Path root = Path.of(System.getProperty("sonde.root"));
        try (Stream<Path> modules = Files.list(BUILD.resolve("tests"))) {
            modules.filter(Files::isDirectory)
                    .sorted()
                    .forEach(folder -> {
                        String module = folder.getFileName().toString();
                        path.append(':').append(folder).append(':');
                        path.append(root.resolve(module).resolve("src/test/resources"));
                    });
        }
        return path.toString();
    }

    /** Of the lines with a mark, each guest takes one half, another one each day. */
    private static List<String> classes(String series) throws IOException {
        try (InputStream in =
                Objects.requireNonNull(GuestTest.class.getResourceAsStream("in-guest.txt"))) {
            List<String> lines =
                    new String(in.readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .filter(line -> !line.isBlank() && line.charAt(0) != '#')
                            .toList();
            List<String> marked = lines.stream().filter(line -> line.startsWith(MARK)).toList();
            return lines.stream()
                    .filter(line ->
                            !line.startsWith(MARK)
                                    || Shard.isTurn(
                                            marked.indexOf(line) + SERIES.indexOf(series),
                                            SERIES.size()))
                    .map(line -> line.startsWith(MARK) ? line.substring(MARK.length()) : line)
                    .toList();
        }
    }
}
