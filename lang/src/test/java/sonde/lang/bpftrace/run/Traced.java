package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.ahead.AotReader;
import sonde.lang.bpftrace.ahead.FileWriter;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.bpftrace.run.TraceOptions.ProbeSelection;
import sonde.lang.declare.IncludeFolders;
import sonde.lang.output.TextOutput;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;
import sonde.symbol.files.GivenPlaces;

/** A script that is attached, and what it prints. */
final class Traced implements AutoCloseable {
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final TraceSession session;

    private Traced(
            PreparedScript compilation,
            TraceOptions options,
            TraceSession.@Nullable OutputMaker output)
            throws Exception {
        session =
                TraceSession.open(
                        LoadedScript.load(compilation),
                        options,
                        output != null ? output : names -> new TextOutput(printed, printed, names));
    }

    /** Compiles, loads and attaches. */
    static Traced attach(String script) throws Exception {
        return attach(script, Map.of(), null);
    }

    /** As {@link #attach(String)}, printing elsewhere, with variables of the environment. */
    static Traced attach(
            String script,
            Map<String, String> environment,
            TraceSession.@Nullable OutputMaker output)
            throws Exception {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        TraceOptions options = options(environment);
        Compilation compilation =
                Compilation.of(
                        new SourceText("test", script), options, TargetMachine.here(), diagnostics);
        assertThat(diagnostics.all().stream().map(SourceDiagnostic::render)).isEmpty();
        return attach(Objects.requireNonNull(compilation), options, output);
    }

    /** A script as the bytes of a file for other kernels. */
    static byte[] compiled(String script) throws Exception {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        SourceText text = new SourceText("test", script);
        Compilation compilation =
                Compilation.portable(text, options(Map.of()), TargetMachine.here(), diagnostics);
        assertThat(diagnostics.all().stream().map(SourceDiagnostic::render)).isEmpty();
        return FileWriter.bytes(PortabilityPass.file(Objects.requireNonNull(compilation), text));
    }

    /** A script of a file on this kernel; messages say why it cannot be run. */
    static AheadScript prepared(byte[] file, CompilerDiagnostics diagnostics) throws Exception {
        return AheadScript.of(
                AotReader.read("test.sbt", file),
                options(Map.of()),
                TargetMachine.here(),
                diagnostics);
    }

    /** Loads and attaches a script of a file. */
    static Traced attach(byte[] file) throws Exception {
        return attach(file, ScriptParameters.NONE);
    }

    /** As above, with options. */
    static Traced attach(byte[] file, ScriptParameters parameters) throws Exception {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        TraceOptions options = options(Map.of()).with(parameters);
        AheadScript script =
                AheadScript.of(
                        AotReader.read("test.sbt", file),
                        options,
                        TargetMachine.here(),
                        diagnostics);
        assertThat(diagnostics.all().stream().map(SourceDiagnostic::render)).isEmpty();
        return attach(script, options, null);
    }

    /** Without variables of the environment. */
    static TraceOptions options() {
        return options(Map.of());
    }

    /** With variables of the environment. */
    static TraceOptions options(Map<String, String> environment) {
        return new TraceOptions(
                ScriptParameters.of(List.of()),
                OptionalInt.empty(),
                0,
                false,
                ProbeSelection.TRACE,
                false,
                IncludeFolders.NONE,
                environment,
                Path.of("."),
                false,
                null,
                null,
                Set.of(),
                GivenPlaces.NONE,
                StackCopying.ALL,
                0);
    }

    private static Traced attach(
            PreparedScript script, TraceOptions options, TraceSession.@Nullable OutputMaker output)
            throws Exception {
        Traced traced = new Traced(script, options, output);
        try {
            traced.session.begin("test");
            traced.session.attach();
            return traced;
        } catch (Exception e) {
            traced.close();
            throw e;
        }
    }

    /** Runs a script while a command runs; handles events only when that has ended. */
    static String run(String script, String... command) throws Exception {
        try (Traced traced = attach(script)) {
            Process process = new ProcessBuilder(command).inheritIO().start();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            return traced.end();
        }
    }

    /** What the script asked to end with. */
    int exitCode() {
        return session.exitCode();
    }

    /** Runs its iterators. */
    void iterate() throws Exception {
        session.iterate();
    }

    /** Handles what has come. */
    void drain() throws Exception {
        session.drain();
        session.output().flush();
    }

    /** Ends it; all that it printed. */
    String end() throws Exception {
        session.drain();
        session.end();
        session.output().flush();
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        session.close();
    }

    /** Compiles a program of C with frame pointers. */
    static Path compile(Path folder, String name, String source, String... flags) throws Exception {
        Path file = folder.resolve(name + ".c");
        Files.writeString(file, source);
        Path program = folder.resolve(name);
        List<String> command = new ArrayList<>(List.of("gcc", "-O0", "-fno-omit-frame-pointer"));
        command.addAll(List.of("-o", program.toString(), file.toString()));
        command.addAll(List.of(flags));
        Process gcc = new ProcessBuilder(command).inheritIO().start();
        assertThat(gcc.waitFor()).isZero();
        return program;
    }
}
