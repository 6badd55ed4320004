package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.LoadedScript;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.output.JsonOutput;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.MapStyle;
import sonde.lang.output.MapRows.RowForm;
import sonde.lang.output.ScriptOutput;
import sonde.lang.output.TextOutput;
import sonde.lang.source.CompilerDiagnostics;
import sonde.testkit.Json;
import sonde.tools.script.ScriptTool.ToolVariant;

/** Runs a tool's script in this process while something happens. */
final class ToolRun {
    /** What a tool is to see has happened when the action ends, in nearly all cases. */
    private static final long SHORTEST_NANOS = 20_000_000L;

    private static final long LONGEST_NANOS = 500_000_000L;
    private static final long LONGEST_NANOS_OF_INTERVALS = 2_000_000_000L;

    /** What the tool is to see. */
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }

    private ToolRun() {}

    /**
     * Runs the first script of a tool. It ends when what it printed has a match, or a moment after
     * the action, since most tools print their maps at the end. Without a match it runs once more,
     * for half a second (two where the tool prints each second).
     *
     * @param options as behind the tool's name; {@code -p} is the script's affair here
     * @return what it printed, maps at its end included
     */
    static String see(String name, String pattern, Action action, String... options)
            throws Exception {
        ToolArguments words = words(name, options);
        return see(name, words, pattern, action, options(words));
    }

    /** As above, without the events of a process. */
    static String seeWithout(int hidden, String name, String pattern, Action action)
            throws Exception {
        ToolArguments words = words(name);
        return see(name, words, pattern, action, options(words).watching(0, hidden));
    }

    private static String see(
            String name, ToolArguments words, String pattern, Action action, TraceOptions how)
            throws Exception {
        ByteArrayOutputStream rows = new ByteArrayOutputStream();
        Pattern wanted = Pattern.compile(pattern);
        String printed = run(words, wanted, action, how, rows, SHORTEST_NANOS);
        if (!wanted.matcher(printed).find()) {
            boolean intervals =
                    words.variants().getFirst().text().contains("getopt(\"interval\", 1s");
            rows.reset();
            long nanos = intervals ? LONGEST_NANOS_OF_INTERVALS : LONGEST_NANOS;
            printed = run(words, wanted, action, how, rows, nanos);
        }
        assertThat(printed).containsPattern(pattern);
        boolean ofRows = ScriptTool.find(name).orElseThrow().rules().rows();
        if (ofRows && !printed.startsWith("@")) {
            compare(printed.strip(), rows.toString(StandardCharsets.UTF_8));
        }
        return printed;
    }

    private static ToolArguments words(String name, String... options) {
        return ToolArguments.of(ScriptTool.find(name).orElseThrow(), List.of(options));
    }

    /** What the first script of a tool prints of a command of the shell that is given by -c. */
    static String seeCommand(String name, String command, String... options) throws Exception {
        ToolArguments words = words(name, options);
        Process shell = new ProcessBuilder("/bin/sh", "-c", "read go; " + command).start();
        TraceOptions how = options(words).watching((int) shell.pid(), 0);
        Action action =
                () -> {
                    shell.outputWriter().append("\n").close();
                    shell.waitFor();
                };
        return run(words, Pattern.compile(""), action, how, new ByteArrayOutputStream(), 0);
    }

    /**
     * Each line below the first is an object, which has its names and the words that it shows; and
     * the columns that people have not asked for.
     */
    private static void compare(String printed, String rows) {
        List<String> lines = printed.lines().filter(line -> !line.isEmpty()).toList();
        List<String> names = new ArrayList<>();
        for (String heading : lines.getFirst().split(" +")) {
            String key = heading.toLowerCase(Locale.ROOT).replaceAll("\\((ms|us)\\)", "_$1");
            names.add(key.replace("%", "_percent"));
        }
        names.remove("->");
        List<String> objects = rows.lines().toList();
        assertThat(objects).hasSize(lines.size() - 1);
        for (int i = 0; i < objects.size(); i++) {
            Map<?, ?> object = (Map<?, ?>) Json.parse(objects.get(i));
            assertThat(object.keySet().stream().map(String::valueOf).filter(names::contains))
                    .containsExactlyElementsOf(names);
            assertThat(names).doesNotContain("type");
            for (String name : names) {
                Object value = object.get(name);
                assertThat(lines.get(i + 1))
                        .contains(value == null || name.equals("time") ? "" : shown(value));
            }
        }
    }

    private static String shown(Object value) {
        return String.valueOf(value).replaceAll("[.,: ].*", "");
    }

    /** Runs a command of the shell until it ends. */
    static void shell(String command) throws Exception {
        new ProcessBuilder("/bin/sh", "-c", command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    private static String run(
            ToolArguments words,
            Pattern pattern,
            Action action,
            TraceOptions how,
            OutputStream rows,
            long longest)
            throws Exception {
        ToolVariant script = words.variants().getFirst();
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Compilation compiled =
                Compilation.of(script.source(), how, TargetMachine.here(), diagnostics);
        assertThat(diagnostics.all()).isEmpty();
        assertThat(compiled).isNotNull();
        assertThat(compiled.problem()).isEmpty();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TraceSession session =
                TraceSession.open(
                        LoadedScript.load(compiled),
                        how,
                        names ->
                                both(
                                        new TextOutput(
                                                out,
                                                new PrintStream(out, true),
                                                names,
                                                new MapStyle(
                                                        MapOrder.DEFAULT,
                                                        RowForm.USUAL,
                                                        words.stacks()),
                                                words.rowStyle().onPaper()),
                                        new JsonOutput(
                                                rows,
                                                names,
                                                MapStyle.USUAL,
                                                words.rowStyle().onPaper())))) {
            session.begin("sonde");
            session.attach();
            session.drain();
            action.run();
            long start = System.nanoTime();
            do {
                session.output().flush();
            } while (System.nanoTime() - start < longest
                    && !pattern.matcher(out.toString(StandardCharsets.UTF_8)).find()
                    && session.step());
            session.end();
            session.output().flush();
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    /** What is printed goes to two. */
    private static ScriptOutput both(ScriptOutput one, ScriptOutput other) {
        return (ScriptOutput)
                Proxy.newProxyInstance(
                        ScriptOutput.class.getClassLoader(),
                        new Class<?>[] {ScriptOutput.class},
                        (_, method, arguments) -> {
                            method.invoke(one, arguments);
                            return method.invoke(other, arguments);
                        });
    }

    private static TraceOptions options(ToolArguments words) {
        return TraceOptions.USUAL.with(ScriptParameters.of(words.parameters()));
    }
}
