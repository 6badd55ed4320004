package sonde.tools.trace;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Listing.ListingRows;
import sonde.event.result.LiveResult;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.RowOutput;
import sonde.lang.bpftrace.ahead.AotFile;
import sonde.lang.bpftrace.run.AheadScript;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.bpftrace.run.LoadedScript;
import sonde.lang.bpftrace.run.PreparedScript;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.bpftrace.run.TrialRuns;
import sonde.lang.output.JsonOutput;
import sonde.lang.output.MapResult;
import sonde.lang.output.MapRows.MapStyle;
import sonde.lang.output.MapRows.RowForm;
import sonde.lang.output.RowStyle;
import sonde.lang.output.ScriptOutput;
import sonde.lang.output.TextOutput;
import sonde.lang.output.ValueNames;
import sonde.lang.output.WithoutTracer;
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

/** Compiles and loads a script, and runs it until it ends while its result is written. */
public final class TraceRun implements AutoCloseable {
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");

    private final TraceRequest request;
    private final TraceMessages messages;
    private final OutputStream errors;
    private final Optional<Runnable> attached;
    private final EndSignals signals;
    private final @Nullable LaunchedCommand child;
    private final TraceOptions options;
    private @Nullable LoadedScript loaded;
    private TraceSignals.@Nullable Listener listener;
    private @Nullable TraceChild watched;
    private @Nullable TraceSession live;
    private @Nullable BooleanSupplier goesOn;
    private long due;
    private volatile boolean ended;
    private volatile @Nullable TraceSession running;
    private int status = TraceRecipe.DONE;

    /**
     * Prepares a run: from now on signals end it, and its command waits for its start.
     *
     * @param err gets why the script cannot run
     * @param errors gets what the script says besides its output
     * @param attached is called when all probes are attached
     */
    public TraceRun(
            TraceRequest request, PrintWriter err, OutputStream errors, Optional<Runnable> attached)
            throws IOException {
        InheritedState origin = InheritedState.capture(); // before signals are treated otherwise
        this.request = request;
        messages = new TraceMessages(request, err);
        this.errors = errors;
        this.attached = attached;
        // From the beginning: who interrupts a slow start wants an end, and to be told of it.
        signals = EndSignals.listen(_ -> end());
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

    /** Ends the run, from another thread. */
    private void end() {
        TraceSession session = running;
        if (ended && session == null) {
            Runtime.getRuntime().halt(TraceRecipe.REFUSED); // asked twice, and not begun yet
        }
        ended = true;
        if (session != null) {
            session.stop();
        }
    }

    /**
     * Compiles and loads. The script runs while its result is written.
     *
     * @param text empty where the request names a script that was compiled before
     * @return empty where it cannot run: that was said
     */
    public Optional<Result> result(Optional<SourceText> text) throws IOException {
        if (text.isPresent() && !request.dumps().isEmpty()) {
            return listing((out, _) -> dump(text.get(), RowOutput.unchanged(out)));
        }
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        PreparedScript script =
                text.isPresent() ? compiled(text.get(), diagnostics) : ahead(diagnostics);
        if (script != null && request.plan()) {
            return Optional.of(TracePlan.of(script, new AttachOptions(options.pid())));
        }
        status = TraceRecipe.REFUSED;
        if (script == null) {
            return Optional.empty();
        }
        if (script.ranked().isEmpty()) {
            messages.say("No probes to attach");
            return Optional.empty();
        }
        if (!ended) {
            try {
                loaded = LoadedScript.load(script);
            } catch (LoadException e) {
                messages.refused(e);
                return Optional.empty();
            }
        }
        return request.print().everyNanos() > 0
                ? Optional.of(new LiveResult("", this::nextMaps))
                : listing(this::run);
    }

    /**
     * {@link TraceRecipe#DONE}, {@link TraceRecipe#REFUSED}, what the script gave to {@code
     * exit()}, or the status of the command that the trace ended with.
     */
    public int status() {
        return status;
    }

    /** Rows without columns, for people and for programs. */
    private static Optional<Result> listing(ListingRows rows) {
        return Optional.of(new Listing("", List.of(), rows));
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
        status = refused ? TraceRecipe.REFUSED : TraceRecipe.DONE;
    }

    private void run(OutputStream out, ListingForm form) throws IOException {
        if (ended) {
            status = early();
            return;
        }
        // The control characters that a script prints count.
        OutputStream to = RowOutput.unchanged(out);
        boolean json = form == ListingForm.JSON_LINES;
        try (TraceSession session =
                TraceSession.open(
                        Objects.requireNonNull(loaded),
                        options,
                        names -> output(names, to, json))) {
            status =
                    switch (options.mode()) {
                        case TRACE -> run(session);
                        case TEST ->
                                TrialRuns.test(session) ? TraceRecipe.DONE : TraceRecipe.REFUSED;
                        case BENCH -> TrialRuns.bench(session);
                    };
        } catch (AttachException e) {
            messages.refused(e);
        } catch (ExecException e) {
            messages.refused(e);
        }
    }

    /** Where a script prints: a renderer of bpftrace's layouts. */
    private ScriptOutput output(ValueNames all, OutputStream out, boolean json) {
        TraceRequest.PrintStyle print = request.print();
        boolean ofTool = request.messages().isOfTool();
        ValueNames names = ofTool ? new WithoutTracer(all) : all;
        OutputStream to = print.fullBlocks() ? new FullBlocks(out) : out;
        MapStyle usual = new MapStyle(print.order(), print.form(), print.folded());
        boolean ofMaps = json || print.form() != RowForm.USUAL;
        MapStyle style = ofTool ? usual.ofTool(ofMaps, "--map-keys N makes room for more") : usual;
        RowStyle rows = print.rows().orElse(null);
        return json
                ? new JsonOutput(to, names, style, rows)
                : new TextOutput(to, errors, names, style, rows);
    }

    /** Nothing is written before a block is full, or the end. */
    private static final class FullBlocks extends FilterOutputStream {
        FullBlocks(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            out.write(bytes, from, length);
        }

        @Override
        public void flush() {}
    }

    private int run(TraceSession session) throws IOException, AttachException {
        if (!begin(session)) {
            return TraceRecipe.DONE;
        }
        BooleanSupplier goesOn = following(session);
        while (goesOn != null && session.step()) {
            session.output().flush();
            if (!goesOn.getAsBoolean()) {
                break;
            }
        }
        session.end();
        session.output().flush();
        return exitCode(session);
    }

    /** What the script gave to exit(); of a run that its command ended, the command's status. */
    private int exitCode(TraceSession session) {
        TraceChild command = watched;
        return session.isExiting() || command == null ? session.exitCode() : command.status();
    }

    /** Attaches everything; false when that was all. */
    private boolean begin(TraceSession session) throws IOException, AttachException {
        running = session;
        if (ended) {
            early();
            return false;
        }
        ScriptOutput output = session.output();
        listener = TraceSignals.listen(session);
        if (!request.dryRun()) {
            session.begin(request.comm());
        }
        if (child != null) {
            session.unwind(ShellSplitter.of(request.end().command().orElse("")));
        }
        int count = session.attach();
        if (!request.messages().quiet()) {
            output.attachedProbes(count);
        }
        output.flush();
        if (attached.isPresent()) {
            attached.get().run();
        }
        if (request.dryRun()) {
            return false;
        }
        session.drain();
        output.flush();
        return true;
    }

    /** The maps after the next interval, or at the end; null behind that. */
    private @Nullable Result nextMaps() throws IOException {
        TraceSession session = live;
        if (session == null) {
            if (ended) {
                status = early();
                return null;
            }
            session =
                    TraceSession.open(
                            Objects.requireNonNull(loaded),
                            options,
                            names -> output(names, OutputStream.nullOutputStream(), false));
            live = session;
            try {
                if (!begin(session)) {
                    status = TraceRecipe.DONE;
                    return null;
                }
            } catch (AttachException e) {
                messages.refused(e);
                return null;
            }
            goesOn = following(session);
            due = System.nanoTime();
        } else if (goesOn == null) {
            return null;
        }
        due += request.print().everyNanos();
        BooleanSupplier more = goesOn;
        while (more != null && System.nanoTime() < due) {
            more = session.step() && more.getAsBoolean() ? more : null;
        }
        goesOn = more;
        if (more == null) {
            session.end();
            status = exitCode(session);
        }
        MapResult maps = new MapResult(session.names());
        List<Result> all = new ArrayList<>();
        session.maps().forEach(rows -> all.add(maps.of(rows)));
        String now = CLOCK.format(LocalTime.now(session.names().zone()));
        return new Report(now, List.of(), all);
    }

    /** The user's end came while the script was compiled and loaded, which takes its time. */
    private int early() {
        messages.say("Ended before the probes were attached: nothing was traced.");
        return TraceRecipe.DONE;
    }

    private BooleanSupplier deadline() {
        long start = System.nanoTime();
        return () -> System.nanoTime() - start < request.end().durationNanos();
    }

    /** Whether there is something to wait for, asked ten times a second; null for no waiting. */
    private @Nullable BooleanSupplier following(TraceSession session) throws IOException {
        BooleanSupplier time = deadline();
        if (session.isExiting()) {
            return null;
        }
        if (child != null) {
            session.remember(child.pid());
            child.release();
            TraceChild watch = TraceChild.watch(child);
            watched = watch;
            return () -> watch.isRunning() && time.getAsBoolean();
        }
        boolean done = session.iterate();
        session.output().flush();
        if (done || !session.hasProbes()) {
            return null;
        }
        OptionalInt traced = request.options().pid();
        OptionalInt pid = traced.isPresent() ? traced : request.end().watched();
        if (pid.isEmpty()) {
            return time;
        }
        Path process = Path.of("/proc/" + pid.getAsInt());
        return () -> Files.exists(process) && time.getAsBoolean();
    }

    @Override
    public void close() throws IOException {
        try (signals;
                LoadedScript _ = loaded;
                TraceSession _ = live;
                TraceSignals.Listener _ = listener) {
            if (child != null) {
                TraceChild.end(child);
            }
        }
    }
}
