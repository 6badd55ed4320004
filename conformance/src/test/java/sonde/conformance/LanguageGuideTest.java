package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import sonde.lang.bpftrace.expand.Parameters;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.Machine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.declare.Includes;
import sonde.lang.output.JsonOutput;
import sonde.lang.output.TextOutput;
import sonde.lang.source.Diagnostic;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;

/**
 * Every example of docs/language.md: a block {@code ```bpftrace} is run, here and without a process
 * of its own, and prints the block {@code ```text} behind it, which may be missing when it prints
 * nothing. {@code compiled} behind the language: it is compiled only; {@code error}: it is refused
 * with that text; {@code json}: it prints JSON. {@code …} stands for any characters, a line of only
 * that for any lines. Empty lines at both ends do not count.
 */
@Tag("kernel")
class LanguageGuideTest {
    private static final Path GUIDE = Sonde.ROOT.resolve("docs/language.md");
    private static final long LONGEST_MILLIS = 10_000;

    record Example(int line, Set<String> words, String script, String expected) {}

    static List<Example> examples(List<String> lines) {
        List<Example> examples = new ArrayList<>();
        for (int at = 0; at < lines.size(); at++) {
            if (lines.get(at).startsWith("```bpftrace")) {
                int end = end(lines, at);
                int next = end + 1;
                while (next < lines.size() && lines.get(next).isBlank()) {
                    next++;
                }
                boolean shown = next < lines.size() && lines.get(next).equals("```text");
                examples.add(
                        new Example(
                                at + 1,
                                Set.of(lines.get(at).substring(3).split(" ")),
                                String.join("\n", lines.subList(at + 1, end)) + "\n",
                                shown ? block(lines, next) : ""));
                at = end;
            } else if (lines.get(at).startsWith("```")) {
                at = end(lines, at);
            }
        }
        return examples;
    }

    private static String block(List<String> lines, int start) {
        return String.join("\n", lines.subList(start + 1, end(lines, start)));
    }

    private static int end(List<String> lines, int start) {
        int end = start + 1;
        while (!lines.get(end).equals("```")) {
            end++;
        }
        return end;
    }

    static Pattern pattern(String expected) {
        StringBuilder out = new StringBuilder("\\n*");
        for (String line : expected.strip().split("\n", -1)) {
            if (line.equals("…")) {
                out.append("(?:.*\\n)*?");
                continue;
            }
            for (String piece : line.splitWithDelimiters("…", -1)) {
                out.append(piece.equals("…") ? ".*" : Pattern.quote(piece));
            }
            out.append("\\n");
        }
        return Pattern.compile(out.append("\\n*").toString());
    }

    @TestFactory
    @Timeout(300)
    Stream<DynamicTest> examples() throws Exception {
        List<Example> examples = examples(Files.readAllLines(GUIDE));
        assertThat(examples).hasSizeGreaterThan(30);
        return examples.stream()
                .map(example ->
                        DynamicTest.dynamicTest("line " + example.line(), () -> check(example)));
    }

    private static void check(Example example) throws Exception {
        String printed = run(example) + "\n";
        assertThat(printed)
                .as("docs/language.md:%d\n%s", example.line(), example.script())
                .matches(pattern(example.expected()));
    }

    private static String run(Example example) throws Exception {
        TraceOptions options =
                new TraceOptions(
                        Parameters.of(List.of()),
                        OptionalInt.empty(),
                        0,
                        false,
                        TraceOptions.Mode.TRACE,
                        false,
                        Includes.NONE,
                        Map.of(),
                        Path.of("."),
                        null,
                        null,
                        Set.of());
        Diagnostics diagnostics = new Diagnostics();
        SourceText text = new SourceText("stdin", example.script());
        Compilation compiled = Compilation.of(text, options, Machine.here(), diagnostics);
        if (example.words().contains("error")) {
            assertThat(diagnostics.hasErrors()).isTrue();
            return rendered(diagnostics);
        }
        assertThat(diagnostics.hasErrors())
                .as("docs/language.md:%d\n%s", example.line(), rendered(diagnostics))
                .isFalse();
        if (example.words().contains("compiled")) {
            assertThat(compiled.programs()).isNotEmpty();
            return "";
        }
        return printed(compiled, options, example.words().contains("json"));
    }

    private static String rendered(Diagnostics diagnostics) {
        return String.join("\n", diagnostics.all().stream().map(Diagnostic::render).toList());
    }

    private static String printed(Compilation compiled, TraceOptions options, boolean json)
            throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream err = new PrintStream(out, true, StandardCharsets.UTF_8);
        try (TraceSession session =
                TraceSession.open(
                        compiled,
                        options,
                        names ->
                                json
                                        ? new JsonOutput(out, names)
                                        : new TextOutput(out, err, names))) {
            session.begin("sonde");
            session.attach();
            session.drain();
            boolean done = session.isExiting() || session.iterate() || !session.hasProbes();
            if (!done) {
                long end = System.currentTimeMillis() + LONGEST_MILLIS;
                session.run(() -> System.currentTimeMillis() < end);
            }
            session.end();
        }
        return out.toString(StandardCharsets.UTF_8);
    }
}
