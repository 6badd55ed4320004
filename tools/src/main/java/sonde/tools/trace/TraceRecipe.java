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
import sonde.event.result.Result;
import sonde.event.result.RowOutput;
import sonde.lang.bpftrace.ahead.FileWriter;
import sonde.lang.bpftrace.ahead.ScriptFile;
import sonde.lang.bpftrace.expand.Formatter;
import sonde.lang.bpftrace.run.AheadScript;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.bpftrace.run.Machine;
import sonde.lang.bpftrace.run.Portability;
import sonde.lang.bpftrace.run.Prepared;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.bpftrace.syntax.Parser;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.probes.AttachException;
import sonde.lang.probes.AttachOptions;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;
import sonde.probe.launch.Command;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.Launcher;
import sonde.probe.launch.Origin;
import sonde.probe.launch.Target;

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
    private final @Nullable Target child;
    private final TraceOptions options;
    private @Nullable Prepared script;
    private int status = DONE;

    private TraceRecipe(TraceRequest request, TraceMessages messages, TraceRun run, Origin origin)
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

    private static @Nullable Target prepared(Optional<String> command, Origin origin)
            throws IOException {
        if (command.isEmpty()) {
            return null;
        }
        List<String> words = ShellWords.of(command.get());
        return Launcher.prepare(Command.of(words.toArray(String[]::new)), origin);
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
        Origin origin = Origin.capture(); // before signals are treated otherwise
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
        Diagnostics diagnostics = new Diagnostics();
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
    private static Listing listing(Listing.Rows rows) {
        return new Listing("", List.of(), rows);
    }

    private @Nullable Prepared compiled(SourceText text, Diagnostics diagnostics)
            throws IOException {
        Compilation compiled = Compilation.of(text, options, Machine.here(), diagnostics);
        boolean refused = messages.say(diagnostics) || compiled == null;
        return refused || messages.say(compiled.problem()) ? null : compiled;
    }

    private @Nullable Prepared ahead(Diagnostics diagnostics) throws IOException {
        ScriptFile file = ScriptInput.compiled(request.script());
        if (messages.say(AheadScript.problem(file, options.parameters()))) {
            return null;
        }
        AheadScript script = AheadScript.of(file, options, Machine.here(), diagnostics);
        return messages.say(diagnostics) ? null : script;
    }

    private void dump(SourceText text, OutputStream out) throws IOException {
        Diagnostics diagnostics = new Diagnostics();
        PrintStream dumps = new PrintStream(out, false, StandardCharsets.UTF_8);
        Compilation compiled =
                Compilation.of(
                        text,
                        options,
                        Machine.here(),
                        diagnostics,
                        new TraceDump(request.dumps(), dumps));
        dumps.flush();
        boolean refused = messages.say(diagnostics) || compiled == null;
        status = refused || messages.say(compiled.problem()) ? REFUSED : DONE;
    }

    private void run(OutputStream out, Listing.Form form) throws IOException {
        status = REFUSED;
        try {
            // The control characters that a script prints count.
            boolean json = form == Listing.Form.JSON_LINES;
            Prepared ready = Objects.requireNonNull(script);
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
        Diagnostics diagnostics = new Diagnostics();
        Script script = Parser.parse(text, diagnostics);
        if (new TraceMessages(request, err).say(diagnostics)) {
            return Optional.empty();
        }
        byte[] bytes = Formatter.format(script).getBytes(StandardCharsets.UTF_8);
        return Optional.of(listing((out, _) -> RowOutput.unchanged(out).write(bytes)));
    }

    /** Writes a script as a file for any machine; {@link #DONE} or {@link #REFUSED}. */
    public static int compile(TraceRequest request, SourceText text, Path to, PrintWriter err)
            throws IOException {
        TraceMessages messages = new TraceMessages(request, err);
        Diagnostics diagnostics = new Diagnostics();
        Compilation compiled =
                Compilation.portable(text, request.options(), Machine.here(), diagnostics);
        if (messages.say(diagnostics) || compiled == null || messages.say(compiled.problem())) {
            return REFUSED;
        }
        if (compiled.programs().isEmpty()) {
            messages.say("No probes to attach");
            return REFUSED;
        }
        Files.write(to, FileWriter.bytes(Portability.file(compiled, text)));
        return DONE;
    }

    /** Why a script cannot run here; empty when all its probes could be attached. */
    public static Optional<String> refusal(TraceRequest request, SourceText text)
            throws IOException {
        Diagnostics diagnostics = new Diagnostics();
        Compilation compiled = Compilation.of(text, request.options(), Machine.here(), diagnostics);
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
