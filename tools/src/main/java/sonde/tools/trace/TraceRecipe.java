package sonde.tools.trace;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Listing.ListingRows;
import sonde.event.result.Result;
import sonde.event.result.RowOutput;
import sonde.lang.bpftrace.ahead.AotFile;
import sonde.lang.bpftrace.ahead.FileWriter;
import sonde.lang.bpftrace.expand.ScriptFormatter;
import sonde.lang.bpftrace.run.AheadScript;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.bpftrace.run.PortabilityPass;
import sonde.lang.bpftrace.run.PreparedScript;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.probes.AttachException;
import sonde.lang.probes.AttachOptions;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceText;
import sonde.probe.launch.CommandLauncher;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.LaunchedCommand;

/** Compiles a script and runs it until it ends. */
public final class TraceRecipe implements AutoCloseable {
    /** The status of what went well. */
    public static final int DONE = 0;

    /** The status of a script that is wrong, or that the kernel does not take. */
    public static final int REFUSED = 1;

    private final TraceRequest request;
    private final TraceMessages messages;
    private final TraceRun run;
    private final EndSignals signals;
    private final @Nullable LaunchedCommand child;
    private final TraceOptions options;
    private @Nullable PreparedScript script;
    private int status = DONE;

    private TraceRecipe(
            TraceRequest request, TraceMessages messages, TraceRun run, InheritedState origin)
            throws IOException {
        this.request = request;
        this.messages = messages;
        this.run = run;
        // From the beginning: who interrupts a slow start wants an end, and to be told of it.
        signals = EndSignals.listen(_ -> run.end());
        try {
            child = request.dryRun() ? null : prepared(request.end().command(), origin);
        } catch (IOException | RuntimeException e) {
            signals.close();
            throw e;
        }
        TraceOptions given = request.options();
        options = given.watching(child == null ? 0 : child.pid(), given.hidden());
    }

    private static @Nullable LaunchedCommand prepared(
            Optional<String> command, InheritedState origin) throws IOException {
        if (command.isEmpty()) {
            return null;
        }
        List<String> words = ShellSplitter.of(command.get());
        return CommandLauncher.prepare(CommandWords.of(words.toArray(String[]::new)), origin);
    }

    /**
     * Prepares a run: from now on signals end it, and its command waits for its start.
     *
     * @param err gets why the script cannot run
     * @param errors gets what the script says besides its output
     * @param attached is called when all probes are attached
     */
    public static TraceRecipe open(
            TraceRequest request, PrintWriter err, OutputStream errors, Optional<Runnable> attached)
            throws IOException {
        InheritedState origin = InheritedState.capture(); // before signals are treated otherwise
        TraceMessages messages = new TraceMessages(request, err);
        TraceRun run = new TraceRun(request, messages, errors, attached);
        return new TraceRecipe(request, messages, run, origin);
    }

    /**
     * Compiles. The script runs while its result is written.
     *
     * @param text empty where the request names a script that was compiled before
     * @return empty where it cannot run: that was said
     */
    public Optional<Result> result(Optional<SourceText> text) throws IOException {
        if (text.isPresent() && !request.dumps().isEmpty()) {
            return Optional.of(listing((out, _) -> dump(text.get(), RowOutput.unchanged(out))));
        }
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        script = text.isPresent() ? compiled(text.get(), diagnostics) : ahead(diagnostics);
        if (script == null) {
            status = REFUSED;
            return Optional.empty();
        }
        if (request.plan()) {
            return Optional.of(TracePlan.of(script, new AttachOptions(options.pid())));
        }
        if (script.ranked().isEmpty()) {
            messages.say("No probes to attach");
            status = REFUSED;
            return Optional.empty();
        }
        return Optional.of(listing(this::run));
    }

    /** {@link #DONE}, {@link #REFUSED}, or what the script gave to {@code exit()}. */
    public int status() {
        return status;
    }

    /** Rows without columns, for people and for programs. */
    private static Listing listing(ListingRows rows) {
        return new Listing("", List.of(), rows);
    }

    private @Nullable PreparedScript compiled(SourceText text, CompilerDiagnostics diagnostics)
            throws IOException {
        Compilation compiled = Compilation.of(text, options, TargetMachine.here(), diagnostics);
        if (messages.say(diagnostics) || compiled == null || messages.say(compiled.problem())) {
            return null;
        }
        return compiled;
    }

    private @Nullable PreparedScript ahead(CompilerDiagnostics diagnostics) throws IOException {
        AotFile file = ScriptInput.compiled(request.script());
        if (messages.say(AheadScript.problem(file, options.parameters()))) {
            return null;
        }
        AheadScript script = AheadScript.of(file, options, TargetMachine.here(), diagnostics);
        return messages.say(diagnostics) ? null : script;
    }

    private void dump(SourceText text, OutputStream out) throws IOException {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        PrintStream dumps = new PrintStream(out, false, StandardCharsets.UTF_8);
        Compilation compiled =
                Compilation.of(
                        text,
                        options,
                        TargetMachine.here(),
                        diagnostics,
                        new TraceDump(request.dumps(), dumps));
        dumps.flush();
        boolean refused =
                messages.say(diagnostics) || compiled == null || messages.say(compiled.problem());
        status = refused ? REFUSED : DONE;
    }

    private void run(OutputStream out, ListingForm form) throws IOException {
        status = REFUSED;
        try {
            // The control characters that a script prints count.
            boolean json = form == ListingForm.JSON_LINES;
            PreparedScript ready = Objects.requireNonNull(script);
            status = run.run(ready, options, child, RowOutput.unchanged(out), json);
        } catch (LoadException e) {
            messages.refused(e);
        } catch (AttachException e) {
            messages.refused(e);
        } catch (ExecException e) {
            messages.refused(e);
        }
    }

    @Override
    public void close() throws IOException {
        try (signals) {
            if (child != null) {
                TraceChild.end(child);
            }
        }
    }

    /** A script in the usual form; empty where it is wrong, which is said. */
    public static Optional<Result> formatted(
            TraceRequest request, SourceText text, PrintWriter err) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Script script = ScriptParser.parse(text, diagnostics);
        if (new TraceMessages(request, err).say(diagnostics)) {
            return Optional.empty();
        }
        byte[] bytes = ScriptFormatter.format(script).getBytes(StandardCharsets.UTF_8);
        return Optional.of(listing((out, _) -> RowOutput.unchanged(out).write(bytes)));
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
        PrintWriter silent = new PrintWriter(Writer.nullWriter());
        TraceRun trial =
                new TraceRun(
                        request, new TraceMessages(request, silent), nowhere, Optional.empty());
        try (TraceSession session = TraceSession.open(compiled, request.options(), trial)) {
            session.attach();
            return Optional.empty();
        } catch (IOException | LoadException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}
