package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import sonde.lang.bpftrace.expand.Parameters;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.Machine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.output.TextOutput;
import sonde.lang.source.Diagnostics;

/** Runs a tool's script in this process while something happens. */
final class ToolRun {
    private static final long LONGEST_NANOS = 500_000_000L;
    private static final long LONGEST_NANOS_OF_INTERVALS = 2_000_000_000L;

    /** What the tool is to see. */
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }

    private ToolRun() {}

    /**
     * Runs the first script of a tool; ends when what it printed has a match, or after half a
     * second (two where the tool prints each second): most print their maps at the end.
     *
     * @param options as behind the tool's name; {@code -p} is the script's affair here
     * @return what it printed, maps at its end included
     */
    static String see(String name, String pattern, Action action, String... options)
            throws Exception {
        ScriptTool tool = ScriptTool.find(name).orElseThrow();
        TraceOptions how = options(ToolWords.of(tool, List.of(options)));
        String printed = run(tool.variants().getFirst(), Pattern.compile(pattern), action, how);
        assertThat(printed).containsPattern(pattern);
        return printed;
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
            ScriptTool.Variant script, Pattern pattern, Action action, TraceOptions how)
            throws Exception {
        Diagnostics diagnostics = new Diagnostics();
        Compilation compiled = Compilation.of(script.source(), how, Machine.here(), diagnostics);
        assertThat(diagnostics.all()).isEmpty();
        assertThat(compiled).isNotNull();
        assertThat(compiled.problem()).isEmpty();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TraceSession session =
                TraceSession.open(
                        compiled,
                        how,
                        names -> new TextOutput(out, new PrintStream(out, true), names))) {
            session.begin("sonde");
            session.attach();
            session.drain();
            action.run();
            long start = System.nanoTime();
            long longest =
                    script.source().text().contains("interval:")
                            ? LONGEST_NANOS_OF_INTERVALS
                            : LONGEST_NANOS;
            session.run(() ->
                    System.nanoTime() - start < longest
                            && !pattern.matcher(out.toString(StandardCharsets.UTF_8)).find());
            session.end();
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static TraceOptions options(ToolWords words) {
        return TraceOptions.USUAL.with(Parameters.of(words.parameters()));
    }
}
