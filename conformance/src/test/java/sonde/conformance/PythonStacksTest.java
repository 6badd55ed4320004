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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** User stacks of Python programs, against what the program says of its own stack. */
@Tag("kernel")
@Tag("long")
class PythonStacksTest {
    @TempDir Path folder;

    /** The distribution's Python, and others that are installed beside it. */
    static List<Path> pythons() throws Exception {
        Path pyenv = Path.of(System.getProperty("user.home"), ".pyenv/versions");
        String pattern = ".*/bin/python3\\.(9|1\\d)";
        List<Path> found = ParentCalls.programs(pattern, Path.of("/usr/bin"), pyenv);
        return found.isEmpty() ? List.of(Path.of("/usr/bin/python3")) : found;
    }

    @ParameterizedTest
    @MethodSource("pythons")
    void stacksAreWhatTheProgramSays(Path python) throws Exception {
        ParentCalls recorded = ParentCalls.record(folder, python, "stacks.py");
        Map<String, List<List<String>>> expected = new TreeMap<>();
        for (String line : recorded.told) {
            List<String> words = Arrays.asList(line.split("\t"));
            expected.computeIfAbsent(words.getFirst(), _ -> new ArrayList<>())
                    .add(words.subList(1, words.size()));
        }
        Map<String, List<List<String>>> found = new TreeMap<>();
        for (ParentCalls.ParentCall call : recorded.calls()) {
            List<String> stack = new ArrayList<>();
            call.frames().forEach(frame -> stack.addAll(List.of(frame.name(), frame.line())));
            found.computeIfAbsent(call.thread(), _ -> new ArrayList<>()).add(stack);
        }
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
