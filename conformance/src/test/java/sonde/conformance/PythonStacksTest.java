package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** User stacks of Python programs, against what the program says of its own stack. */
@Tag("kernel")
class PythonStacksTest {
    private static final Pattern HIT =
            Pattern.compile("\\s*(\\d+)\\s+syscalls:sys_enter_getppid.*");
    private static final Pattern FRAME = Pattern.compile("\\s+([0-9a-f]+) (.*) \\([^()]*\\)");
    private static final Pattern LINE = Pattern.compile("  \\S.*:(\\d+)");

    /** Addresses of frames of run times are above. */
    private static final long FIRST = 1L << 56;

    @TempDir Path folder;

    /** The distribution's Python, and others that are installed beside it. */
    static List<Path> pythons() throws Exception {
        List<Path> found = new ArrayList<>();
        for (String place :
                List.of("/usr/bin", System.getProperty("user.home") + "/.pyenv/versions")) {
            if (Files.isDirectory(Path.of(place))) {
                try (Stream<Path> files =
                        Files.find(
                                Path.of(place),
                                3,
                                (path, _) ->
                                        path.toString().matches(".*/bin/python3\\.(9|1\\d)"))) {
                    found.addAll(files.map(PythonStacksTest::real).distinct().sorted().toList());
                }
            }
        }
        return found.isEmpty() ? List.of(Path.of("/usr/bin/python3")) : found;
    }

    private static Path real(Path path) {
        try {
            return path.toRealPath();
        } catch (java.io.IOException e) {
            return path;
        }
    }

    @ParameterizedTest
    @MethodSource("pythons")
    void stacksAreWhatTheProgramSays(Path python) throws Exception {
        assumeTrue(Files.isExecutable(python), "needs Python");
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        Path said = folder.resolve("said");
        Recorded recorded = recorded(python, said);
        Map<String, List<List<String>>> expected = new TreeMap<>();
        for (String line : Files.readAllLines(said)) {
            List<String> words = Arrays.asList(line.split("\t"));
            expected.computeIfAbsent(words.getFirst(), _ -> new ArrayList<>())
                    .add(words.subList(1, words.size()));
        }
        Map<String, List<List<String>>> found = found(recorded);
        assertThat(found.keySet()).isEqualTo(expected.keySet());
        int all = 0;
        Map<String, String> wrong = new HashMap<>();
        for (String thread : expected.keySet()) {
            List<List<String>> told = expected.get(thread);
            List<List<String>> ours = found.get(thread);
            assertThat(ours).hasSameSizeAs(told);
            for (int i = 0; i < told.size(); i++) {
                List<String> own = new ArrayList<>(told.get(i));
                List<String> seen = new ArrayList<>(ours.get(i));
                own.set(1, ""); // the call of leaf comes some lines behind the loop
                if (seen.size() > 1) {
                    seen.set(1, "");
                }
                all++;
                if (!own.equals(seen)) {
                    wrong.put(own.toString(), seen.toString());
                }
            }
        }
        assertThat(all).isGreaterThanOrEqualTo(100);
        String first = wrong.entrySet().stream().findFirst().map(Map.Entry::toString).orElse("");
        assertThat(wrong.size()).as("of %d: %s", all, first).isLessThanOrEqualTo(all / 100);
    }

    /** On a busy machine the tables of a library may come after the program. */
    private Recorded recorded(Path python, Path said) throws Exception {
        for (int round = 0; ; round++) {
            Recorded recorded =
                    Recorded.record(
                            folder,
                            "python" + round,
                            "-e",
                            "syscalls:sys_enter_getppid",
                            "-T",
                            "--",
                            python.toString(),
                            TargetProgram.source("stacks.py").toString(),
                            said.toString());
            boolean late = recorded.meta().texts("notes").toString().contains("met a file before");
            if (!late || round == 4) {
                return recorded;
            }
        }
    }

    /** Names and lines of the frames of Python, by thread. */
    private Map<String, List<List<String>>> found(Recorded recorded) throws Exception {
        Sonde.Outcome listed =
                Sonde.in(folder)
                        .run(
                                "report",
                                recorded.bundle.toString(),
                                "--events",
                                "--event",
                                "*getppid*",
                                "-F",
                                "tid,event,ip,sym,dso,srcline");
        assertThat(listed.status()).as("%s", listed.err()).isZero();
        Map<String, List<List<String>>> found = new TreeMap<>();
        List<String> stack = new ArrayList<>();
        boolean python = false;
        for (String line : listed.out().lines().toList()) {
            Matcher hit = HIT.matcher(line);
            Matcher frame = FRAME.matcher(line);
            Matcher place = LINE.matcher(line);
            if (hit.matches()) {
                stack = new ArrayList<>();
                found.computeIfAbsent(hit.group(1), _ -> new ArrayList<>()).add(stack);
            } else if (frame.matches()) {
                python = Long.parseUnsignedLong(frame.group(1), 16) >= FIRST;
                if (python) {
                    stack.add(frame.group(2));
                    stack.add("");
                }
            } else if (python && place.matches()) {
                stack.set(stack.size() - 1, place.group(1));
            }
        }
        return found;
    }

    /** At any instant: a function that is only called by one other is under it. */
    @Test
    void samplesAtAnyInstantHaveTheFunctionsThatRan() throws Exception {
        Path python = pythons().getFirst();
        assumeTrue(Files.isExecutable(python), "needs Python");
        Path program = folder.resolve("burn.py");
        Files.writeString(
                program,
                """
                import time
                def spin(n):
                    x = 0
                    for i in range(n):
                        x += i * i
                    return x
                def deep(n):
                    return spin(2000) if n == 0 else deep(n - 1)
                def sort():
                    return sorted(range(40), key=lambda v: spin(40))
                def produce():
                    for i in range(3):
                        yield deep(3)
                def fail():
                    try:
                        raise KeyError(spin(500))
                    except KeyError:
                        pass
                end = time.process_time() + 1.5
                while time.process_time() < end:
                    deep(5)
                    sort()
                    list(produce())
                    fail()
                """);
        Recorded.record(folder, "first", "--", python.toString(), "-c", "pass");
        Recorded recorded =
                Recorded.record(
                        folder, "burn", "-F", "1999", "--", python.toString(), program + "");
        Json tree = recorded.report("--oncpu").object("sections").object("on_cpu_stacks");
        long[] sums = new long[3];
        Recorded.walk(
                tree,
                (path, node) -> {
                    long self = node.number("self");
                    int module = path.indexOf("<module>");
                    sums[0] += path.contains("spin") ? self : 0;
                    boolean fits =
                            path.contains("deep") || path.contains("sort") || path.contains("fail");
                    sums[1] += path.contains("spin") && fits && module >= 0 ? self : 0;
                    sums[2] += path.contains("_PyEval_EvalFrameDefault") && module >= 0 ? self : 0;
                });
        assertThat(sums[0]).isPositive();
        assertThat((double) sums[1] / sums[0]).isGreaterThan(0.99);
        assertThat((double) sums[2] / sums[0]).as("not named").isLessThan(0.01);
    }
}
