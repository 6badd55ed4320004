package sonde.tools.trace;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.bpftrace.run.PreparedScript;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.bpftrace.run.TrialRuns;
import sonde.lang.output.JsonOutput;
import sonde.lang.output.MapRows.MapStyle;
import sonde.lang.output.MapRows.RowForm;
import sonde.lang.output.RowStyle;
import sonde.lang.output.ScriptOutput;
import sonde.lang.output.TextOutput;
import sonde.lang.output.ValueNames;
import sonde.lang.output.WithoutTracer;
import sonde.lang.probes.AttachException;
import sonde.probe.launch.LaunchedCommand;

/** Runs a compiled script until it ends. */
final class TraceRun implements TraceSession.OutputMaker {
    private final TraceRequest request;
    private final TraceMessages messages;
    private final OutputStream errors;
    private final Optional<Runnable> attached;
    private @Nullable OutputStream out;
    private boolean json;
    private volatile boolean ended;
    private volatile @Nullable TraceSession running;

    /**
     * A run that has not begun.
     *
     * @param errors gets what the script says besides its output
     * @param attached is called when all probes are attached
     */
    TraceRun(
            TraceRequest request,
            TraceMessages messages,
            OutputStream errors,
            Optional<Runnable> attached) {
        this.request = request;
        this.messages = messages;
        this.errors = errors;
        this.attached = attached;
    }

    /** Ends the run, from another thread. */
    void end() {
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
     * Runs.
     *
     * @param to gets the output, which passes unchanged
     * @param asJson whether as lines of JSON
     * @return as {@link TraceRecipe#status}
     */
    int run(
            PreparedScript script,
            TraceOptions options,
            @Nullable LaunchedCommand child,
            OutputStream to,
            boolean asJson)
            throws IOException, LoadException {
        if (ended) {
            return early();
        }
        out = to;
        json = asJson;
        try (TraceSession session = TraceSession.open(script, options, this)) {
            return switch (options.mode()) {
                case TRACE -> run(session, child);
                case TEST -> TrialRuns.test(session) ? TraceRecipe.DONE : TraceRecipe.REFUSED;
                case BENCH -> TrialRuns.bench(session);
            };
        }
    }

    /** Where a script prints: a renderer of bpftrace's layouts. */
    @Override
    public ScriptOutput make(ValueNames all) {
        TraceRequest.PrintStyle print = request.print();
        boolean ofTool = request.messages().isOfTool();
        ValueNames names = ofTool ? new WithoutTracer(all) : all;
        OutputStream lines = out == null ? OutputStream.nullOutputStream() : out; // a trial
        OutputStream to = print.fullBlocks() ? new FullBlocks(lines) : lines;
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

    private int run(TraceSession session, @Nullable LaunchedCommand child)
            throws IOException, AttachException {
        running = session;
        if (ended) {
            return early();
        }
        try (TraceSignals.Listener _ = TraceSignals.listen(session)) {
            if (!request.dryRun()) {
                session.begin(request.comm());
            }
            int count = session.attach();
            if (!request.messages().quiet()) {
                session.output().attachedProbes(count);
            }
            session.output().flush();
            if (attached.isPresent()) {
                attached.get().run();
            }
            if (request.dryRun()) {
                return TraceRecipe.DONE;
            }
            session.drain();
            follow(session, child, deadline());
            session.end();
            return session.exitCode();
        }
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

    private void follow(TraceSession session, @Nullable LaunchedCommand child, BooleanSupplier time)
            throws IOException {
        if (session.isExiting()) {
            return;
        }
        if (child != null) {
            session.remember(child.pid());
            child.release();
            TraceChild watch = TraceChild.watch(child);
            session.run(() -> watch.isRunning() && time.getAsBoolean());
            return;
        }
        boolean done = session.iterate();
        if (done || !session.hasProbes()) {
            return;
        }
        OptionalInt traced = request.options().pid();
        OptionalInt pid = traced.isPresent() ? traced : request.end().watched();
        if (pid.isPresent()) {
            Path process = Path.of("/proc/" + pid.getAsInt());
            session.run(() -> Files.exists(process) && time.getAsBoolean());
        } else {
            session.run(time);
        }
    }
}
