package sonde.tools.trace;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.event.result.RowOutput;
import sonde.lang.bpftrace.ahead.FileWriter;
import sonde.lang.bpftrace.expand.ScriptFormatter;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.bpftrace.run.LoadedScript;
import sonde.lang.bpftrace.run.PortabilityPass;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.output.TextOutput;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceText;

/** What is done with a script besides running it, which is {@link TraceRun}. */
public final class TraceRecipe {
    /** The status of what went well. */
    public static final int DONE = 0;

    /** The status of a script that is wrong, or that the kernel does not take. */
    public static final int REFUSED = 1;

    private TraceRecipe() {}

    /** A script in the usual form; empty where it is wrong, which is said. */
    public static Optional<Result> formatted(
            TraceRequest request, SourceText text, PrintWriter err) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script = ScriptParser.parse(text, diagnostics);
        if (new TraceMessages(request, err).say(diagnostics)) {
            return Optional.empty();
        }
        byte[] bytes = ScriptFormatter.format(script).getBytes(StandardCharsets.UTF_8);
        return Optional.of(
                new Listing("", List.of(), (out, _) -> RowOutput.unchanged(out).write(bytes)));
    }

    /** Writes a script as a file for any machine; {@link #DONE} or {@link #REFUSED}. */
    public static int compile(TraceRequest request, SourceText text, Path to, PrintWriter err)
            throws IOException {
        TraceMessages messages = new TraceMessages(request, err);
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Compilation compiled =
                Compilation.portable(text, request.options(), TargetMachine.here(), diagnostics);
        if (messages.say(diagnostics) || compiled == null || messages.say(compiled.problem())) {
            return REFUSED;
        }
        if (compiled.programs().isEmpty()) {
            messages.say("No probes to attach");
            return REFUSED;
        }
        Files.write(to, FileWriter.bytes(PortabilityPass.file(compiled, text)));
        return DONE;
    }

    /** Why a script cannot run here; empty when all its probes could be attached. */
    public static Optional<String> refusal(TraceRequest request, SourceText text)
            throws IOException {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Compilation compiled =
                Compilation.of(text, request.options(), TargetMachine.here(), diagnostics);
        if (compiled == null) {
            return Optional.of(diagnostics.all().getFirst().message());
        }
        OutputStream nowhere = OutputStream.nullOutputStream();
        try (LoadedScript loaded = LoadedScript.load(compiled);
                TraceSession session =
                        TraceSession.open(
                                loaded,
                                request.options(),
                                names -> new TextOutput(nowhere, nowhere, names))) {
            session.attach();
            return Optional.empty();
        } catch (IOException | LoadException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}
