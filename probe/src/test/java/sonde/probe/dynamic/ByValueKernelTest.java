package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.symbol.files.GivenPlaces;
import sonde.testkit.CallPrograms;
import sonde.testkit.CallPrograms.Kind;
import sonde.testkit.Shard;

/** Each kind of structure and class by value, against what the programs print of them. */
@Tag("kernel")
final class ByValueKernelTest {
    @TempDir Path folder;

    static List<String> builds() {
        return Shard.of(
                List.of(
                        "gcc -w -g -O0",
                        "gcc -w -g -O2",
                        "gcc -w -g -O2 -fno-var-tracking",
                        "clang -w -g -O1",
                        "g++ -w -g -O0",
                        "g++ -w -g -O1",
                        "g++ -w -g -O2",
                        "clang++ -w -g -O0 -std=c++17",
                        "clang++ -w -g -O2 -std=c++17"));
    }

    @ParameterizedTest
    @MethodSource("builds")
    void argumentsAreAsTold(String words) throws Exception {
        Programs.Build build = Programs.Build.of(words);
        Assumptions.assumeTrue(build.isThere(), build.compiler() + " is not there");
        boolean isCpp = build.compiler().endsWith("++");
        List<Kind> kinds = isCpp ? CallPrograms.cpp() : CallPrograms.c();
        String source = CallPrograms.source(kinds);
        Path program = Programs.build(folder, isCpp ? "calls.cc" : "calls.c", source, build);
        NamedProbes probes = NamedProbes.open();
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            List<ProbeDefinition> made = new ArrayList<>();
            for (Kind kind : kinds) {
                ProbeDefiner definer = new ProbeDefiner(subject).avoiding(probes.events());
                made.addAll(definer.define(PointSpec.parse("take_" + kind.name() + " k")));
                made.addAll(definer.define(PointSpec.parse("give_" + kind.name() + " k")));
            }
            if (isCpp) {
                // 0x1817161514131211, in %rax: a word whose class has a constructor from another.
                made.addAll(
                        new ProbeDefiner(subject)
                                .avoiding(probes.events())
                                .define(PointSpec.parse("give_Eight%return x=$retval.x:s64")));
            }
            probes.add(subject, made);
            try (TraceText trace = new TraceText("byvalue")) {
                for (ProbeDefinition one : made) {
                    trace.enable(one.event(), true);
                }
                Programs.run(List.of(program.toString()));
                Map<String, String> seen = new TreeMap<>();
                for (String line : trace.lines()) {
                    Map<String, String> pairs = Programs.pairs(line);
                    String event = line.replaceAll(".*: (\\w+): \\(.*", "$1");
                    seen.put(event, pairs.getOrDefault("k", pairs.getOrDefault("x", "")));
                }
                assertThat(seen).hasSize(made.size());
                seen.forEach((event, value) ->
                        assertThat(value)
                                .as(event)
                                .isEqualTo(
                                        event.contains("return")
                                                ? "" + 0x1817161514131211L
                                                : "" + CallPrograms.NUMBER));
            } finally {
                for (ProbeDefinition one : made) {
                    probes.delete(one.event(), false);
                }
            }
        }
    }
}
