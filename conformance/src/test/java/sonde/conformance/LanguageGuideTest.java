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
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.LoadedScript;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.output.JsonOutput;
import sonde.lang.output.TextOutput;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;
import sonde.testkit.Clang;

/**
 * Every example of docs/language.md: a block {@code ```bpftrace} is run, here and without a process
 * of its own, and prints the block {@code ```text} behind it, which may be missing when it prints
 * nothing. {@code compiled} behind the language: it is compiled only; {@code error}: it is refused
 * with that text; {@code json}: it prints JSON. {@code …} stands for any characters, a line of only
 * that for any lines. Empty lines at both ends do not count. Of blocks {@code ```sh} each prompt is
 * run by a shell and compared with what stands below it. Something happens on the machine
 * meanwhile: processes that start, sleep 5 ms and end.
 */
@Tag("kernel")
class LanguageGuideTest {
    private static final Path GUIDE = Sonde.ROOT.resolve("docs/language.md");
    private static final long LONGEST_MILLIS = 10_000;

    private static final String PROMPT = "$ ";

    private static @Nullable Process busy;

    record Example(int line, Set<String> words, String script, String expected) {}

    @BeforeAll
    static void somethingHappens() throws Exception {
        busy =
                new ProcessBuilder("/bin/sh", "-c", "while :; do /bin/sh -c 'sleep 0.005'; done")
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
    }

    @AfterAll
    static void nothingHappens() {
        if (busy != null) {
            busy.destroyForcibly();
        }
    }

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

    /** Prompts of the blocks of a shell, each with what is shown below it. */
    static List<Example> prompts(List<String> lines) {
        List<Example> prompts = new ArrayList<>();
        for (int at = 0; at < lines.size(); at++) {
            if (!lines.get(at).startsWith("```")) {
                continue;
            }
            int end = end(lines, at);
            int line = at + 1;
            while (line < end && lines.get(at).equals("```sh")) {
                assertThat(lines.get(line)).startsWith(PROMPT);
                int next = line + 1;
                while (next < end && !lines.get(next).startsWith(PROMPT)) {
                    next++;
                }
                prompts.add(
                        new Example(
                                line + 1,
                                Set.of(),
                                lines.get(line).substring(PROMPT.length()),
                                String.join("\n", lines.subList(line + 1, next))));
                line = next;
            }
            at = end;
        }
        return prompts;
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

    @TestFactory
    @Timeout(300)
    Stream<DynamicTest> sessions() throws Exception {
        List<Example> prompts = prompts(Files.readAllLines(GUIDE));
        assertThat(prompts).hasSizeGreaterThan(15);
        return prompts.stream()
                .map(prompt ->
                        DynamicTest.dynamicTest("line " + prompt.line(), () -> session(prompt)));
    }

    private static void session(Example prompt) throws Exception {
        if (prompt.script().contains(".bpf.c\"")) {
            Clang.lacks().ifPresent(Assumptions::abort);
        }
        String path = Sonde.ROOT + ":" + System.getenv("PATH");
        Sonde.Outcome outcome =
                Sonde.in(Path.of("/tmp"))
                        .with(Map.of("PATH", path))
                        .execute(List.of("/bin/sh", "-c", "{ " + prompt.script() + "\n} 2>&1"));
        assertThat(outcome.out().replaceAll("\u001b\\[[0-9;]*m", "") + "\n")
                .as("docs/language.md:%d\n%s", prompt.line(), prompt.script())
                .matches(pattern(prompt.expected()));
    }

    @Test
    void everyBlockShowsSomething() throws Exception {
        List<String> lines = Files.readAllLines(GUIDE);
        for (Example example :
                Stream.concat(examples(lines).stream(), prompts(lines).stream()).toList()) {
            assertThat(example.expected().isEmpty() || example.expected().matches("(?s).*[^…\n].*"))
                    .as("docs/language.md:%d shows nothing but dots", example.line())
                    .isTrue();
        }
    }

    private static void check(Example example) throws Exception {
        String printed = run(example) + "\n";
        assertThat(printed)
                .as("docs/language.md:%d\n%s", example.line(), example.script())
                .matches(pattern(example.expected()));
    }

    private static String run(Example example) throws Exception {
        TraceOptions options = TraceOptions.USUAL;
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        SourceText text = new SourceText("stdin", example.script());
        Compilation compiled = Compilation.of(text, options, TargetMachine.here(), diagnostics);
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

    private static String rendered(CompilerDiagnostics diagnostics) {
        return String.join("\n", diagnostics.all().stream().map(SourceDiagnostic::render).toList());
    }

    private static String printed(Compilation compiled, TraceOptions options, boolean json)
            throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream err = new PrintStream(out, true, StandardCharsets.UTF_8);
        try (TraceSession session =
                TraceSession.open(
                        LoadedScript.load(compiled),
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
                while (session.step() && System.currentTimeMillis() < end) {}
            }
            session.end();
            session.output().flush();
        }
        return out.toString(StandardCharsets.UTF_8);
    }
}
