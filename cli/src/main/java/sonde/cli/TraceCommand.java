package sonde.cli;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.ahead.FileReader;
import sonde.lang.bpftrace.ahead.FileWriter;
import sonde.lang.bpftrace.ahead.ScriptFile;
import sonde.lang.bpftrace.expand.Formatter;
import sonde.lang.bpftrace.expand.Parameters;
import sonde.lang.bpftrace.run.AheadScript;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.LoadException;
import sonde.lang.bpftrace.run.Machine;
import sonde.lang.bpftrace.run.PassListener;
import sonde.lang.bpftrace.run.Portability;
import sonde.lang.bpftrace.run.Prepared;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.bpftrace.run.TraceSession;
import sonde.lang.bpftrace.run.TrialRuns;
import sonde.lang.bpftrace.syntax.Parser;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.declare.Includes;
import sonde.lang.output.JsonOutput;
import sonde.lang.output.MapRows;
import sonde.lang.output.Names;
import sonde.lang.output.Output;
import sonde.lang.output.RowStyle;
import sonde.lang.output.TextOutput;
import sonde.lang.output.WithoutTracer;
import sonde.lang.probes.AttachException;
import sonde.lang.probes.AttachOptions;
import sonde.lang.source.Diagnostic;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;
import sonde.probe.launch.Command;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.ExecException;
import sonde.probe.launch.Launcher;
import sonde.probe.launch.Origin;
import sonde.probe.launch.Target;
import sonde.tools.option.CommandModel;
import sonde.tools.option.HelpText;
import sonde.tools.option.OptionException;
import sonde.tools.record.RunningTarget;

/** {@code sonde trace}: compiles a script and runs it until it ends. */
final class TraceCommand {
    private static final String ATTACHED = "__BPFTRACE_NOTIFY_PROBES_ATTACHED";
    private static final int BUFFER = 1 << 16;
    private static final long MOST_FILE_BYTES = 64 << 20;

    private final TraceArguments arguments;
    private final PrintWriter err;
    private final OutputStream out;
    private volatile boolean ended;
    private volatile @Nullable TraceSession running;

    private TraceCommand(TraceArguments arguments, PrintWriter err, OutputStream out) {
        this.arguments = arguments;
        this.err = err;
        this.out = out;
    }

    /** Runs the command line behind {@code trace}. */
    static int run(List<String> words, PrintWriter err) {
        TraceArguments arguments;
        try {
            arguments = TraceArguments.parse(words);
        } catch (OptionException e) {
            err.println("ERROR: " + e.getMessage());
            err.println("       'sonde trace --help' lists the options");
            err.flush();
            return ExitCode.USAGE;
        }
        return run(arguments, err);
    }

    /** Runs a command line that was read. */
    static int run(TraceArguments arguments, PrintWriter err) {
        try (OutputStream out = open(arguments)) {
            return new TraceCommand(arguments, err, out).run();
        } catch (IOException | UncheckedIOException e) {
            if (String.valueOf(e.getMessage()).contains("Broken pipe")) {
                return ExitCode.DONE; // nobody reads any more
            }
            if (arguments.debug) {
                e.printStackTrace(err);
            }
            err.println((arguments.tool.isEmpty() ? "ERROR: " : "sonde: ") + e.getMessage());
            err.flush();
            return ExitCode.IMPOSSIBLE;
        }
    }

    /** Standard output stays open for others when this is closed. */
    private static OutputStream open(TraceArguments arguments) throws IOException {
        if (arguments.compile) {
            return OutputStream.nullOutputStream(); // the file is written when all is well
        }
        OutputStream raw =
                arguments.output == null
                        ? new FilterOutputStream(new FileOutputStream(FileDescriptor.out)) {
                            @Override
                            public void write(byte[] bytes, int from, int length)
                                    throws IOException {
                                out.write(bytes, from, length);
                            }

                            @Override
                            public void close() throws IOException {
                                flush();
                            }
                        }
                        : Files.newOutputStream(Path.of(arguments.output));
        return new BufferedOutputStream(raw, BUFFER);
    }

    private int run() throws IOException {
        if (arguments.help) {
            CommandModel model = CommandModel.parse(TraceArguments.MODEL + CommandModel.COMMON);
            print(HelpText.of(model, Terminal.width(Terminal.STDOUT)));
            return ExitCode.DONE;
        }
        if (arguments.version) {
            boolean alias = arguments.comm.equals("bpftrace");
            print((alias ? "bpftrace v0.26 by " : "") + "sonde " + Main.VERSION + "\n");
            return ExitCode.DONE;
        }
        if (arguments.information) {
            print(TraceInformation.text());
            return ExitCode.DONE;
        }
        if (arguments.pid.isPresent()) {
            RunningTarget.check(arguments.pid.getAsInt());
        }
        if (arguments.list) {
            return new TraceListing(arguments, err).run(out);
        }
        Path ready = compiled();
        if (ready != null) {
            return withChild(child -> ahead(ready, child));
        }
        SourceText text = source();
        if (text == null) {
            return ExitCode.NEGATIVE;
        }
        if (arguments.formatted != null) {
            return format(text);
        }
        return arguments.compile ? compile(text) : withChild(child -> trace(text, child));
    }

    /** The file, where it is a script that was compiled before; null for others. */
    private @Nullable Path compiled() throws IOException {
        String file = arguments.file;
        if (file == null || file.indexOf('{') >= 0 || !Files.isRegularFile(Path.of(file))) {
            return null;
        }
        Path path = Path.of(file);
        try (InputStream in = Files.newInputStream(path)) {
            return FileReader.isCompiled(in.readNBytes(8)) ? path : null;
        }
    }

    /** {@code --compile}: the script as a file for any machine. */
    private int compile(SourceText text) throws IOException {
        Diagnostics diagnostics = new Diagnostics();
        Compilation compiled = Compilation.portable(text, options(0), Machine.here(), diagnostics);
        if (say(diagnostics) || compiled == null || problem(compiled.problem())) {
            return ExitCode.NEGATIVE;
        }
        if (compiled.programs().isEmpty()) {
            err.println("No probes to attach");
            err.flush();
            return ExitCode.NEGATIVE;
        }
        byte[] bytes = FileWriter.bytes(Portability.file(compiled, text));
        Files.write(Path.of(String.valueOf(arguments.output)), bytes);
        return ExitCode.DONE;
    }

    private int ahead(Path path, @Nullable Target child) throws IOException {
        TraceOptions options = options(child == null ? 0 : child.pid());
        Diagnostics diagnostics = new Diagnostics();
        if (Files.size(path) > MOST_FILE_BYTES) {
            throw new IOException(path + " has more than " + MOST_FILE_BYTES + " bytes");
        }
        ScriptFile file = FileReader.read(path.toString(), Files.readAllBytes(path));
        if (problem(AheadScript.problem(file, options.parameters()))) {
            return ExitCode.NEGATIVE;
        }
        AheadScript script = AheadScript.of(file, options, Machine.here(), diagnostics);
        if (say(diagnostics)) {
            return ExitCode.NEGATIVE;
        }
        if (arguments.plan) {
            print(TracePlan.of(script, new AttachOptions(options.pid())));
            return ExitCode.DONE;
        }
        if (script.ranked().isEmpty()) {
            err.println("No probes to attach");
            err.flush();
            return ExitCode.NEGATIVE;
        }
        return run(script, options, child);
    }

    private void end() {
        TraceSession session = running;
        if (ended && session == null) {
            Runtime.getRuntime().halt(ExitCode.NEGATIVE); // asked twice, and not begun yet
        }
        ended = true;
        if (session != null) {
            session.stop();
        }
    }

    /** Does something with the command of {@code -c}, which has not begun. */
    @FunctionalInterface
    private interface WithChild {
        int run(@Nullable Target child) throws IOException;
    }

    private void print(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private @Nullable SourceText source() throws IOException {
        String file = arguments.formatted != null ? arguments.formatted : arguments.file;
        if (arguments.program.isPresent()) {
            return new SourceText(arguments.programName, arguments.program.get());
        }
        if (file == null) {
            return null;
        }
        if (file.equals("-")) {
            return new SourceText(
                    "stdin", new String(System.in.readAllBytes(), StandardCharsets.UTF_8));
        }
        Path path = Path.of(file.indexOf('{') >= 0 ? "." : file);
        if (file.indexOf('{') >= 0 && !Files.isRegularFile(path)) {
            return new SourceText("stdin", file);
        }
        if (!Files.isReadable(path) || Files.isDirectory(path)) {
            err.println("ERROR: failed to open file '" + file + "': No such file or directory");
            if (file.indexOf('}') >= 0 || file.indexOf('(') >= 0) {
                err.println("HINT: a program has what it does in braces: 'begin { exit(); }'");
            } else if (file.matches("[\\w.*-]*(:[\\w.*-]*)+")) {
                err.println(
                        "HINT: a probe is no program: 'sonde tool funccount "
                                + file
                                + "' counts, 'sonde trace -l' lists");
            }
            err.flush();
            return null;
        }
        return new SourceText(path.getFileName().toString(), Files.readString(path));
    }

    private int format(SourceText text) throws IOException {
        Diagnostics diagnostics = new Diagnostics();
        Script script = Parser.parse(text, diagnostics);
        if (say(diagnostics)) {
            return ExitCode.NEGATIVE;
        }
        print(Formatter.format(script));
        return ExitCode.DONE;
    }

    /** Prints messages; true when there are errors. */
    private boolean say(Diagnostics diagnostics) {
        if (!arguments.tool.isEmpty() && !arguments.verbose && diagnostics.hasErrors()) {
            err.println(ToolRefusal.text(arguments, diagnostics));
            err.flush();
            return true;
        }
        for (Diagnostic diagnostic : diagnostics.all()) {
            if (diagnostic.severity() == Diagnostic.Severity.ERROR || !arguments.noWarnings) {
                err.println(diagnostic.render());
            }
        }
        err.flush();
        return diagnostics.hasErrors();
    }

    private int withChild(WithChild action) throws IOException {
        Target child = null;
        Origin origin = Origin.capture(); // before signals are treated otherwise
        // From the beginning: who interrupts a slow start wants an end, and to be told of it.
        try (EndSignals _ = EndSignals.listen(kind -> end())) {
            if (arguments.command != null && !arguments.dryRun) {
                List<String> words = ShellWords.of(arguments.command);
                child = Launcher.prepare(Command.of(words.toArray(String[]::new)), origin);
            }
            return action.run(child);
        } finally {
            if (child != null) {
                TraceChild.end(child);
            }
        }
    }

    private int trace(SourceText text, @Nullable Target child) throws IOException {
        TraceOptions options = options(child == null ? 0 : child.pid());
        Diagnostics diagnostics = new Diagnostics();
        PrintStream dumps = new PrintStream(out, false, StandardCharsets.UTF_8);
        PassListener passes = new TraceDump(arguments.dumps, dumps);
        Compilation compiled = Compilation.of(text, options, Machine.here(), diagnostics, passes);
        dumps.flush();
        if (say(diagnostics) || compiled == null) {
            return ExitCode.NEGATIVE;
        }
        if (problem(compiled.problem())) {
            return ExitCode.NEGATIVE;
        }
        if (!arguments.dumps.isEmpty()) {
            return ExitCode.DONE;
        }
        if (arguments.plan) {
            print(TracePlan.of(compiled, new AttachOptions(options.pid())));
            return ExitCode.DONE;
        }
        if (compiled.programs().isEmpty()) {
            err.println("No probes to attach");
            err.flush();
            return ExitCode.NEGATIVE;
        }
        return run(compiled, options, child);
    }

    /** Tells what is wrong with the options that were given to the script. */
    private boolean problem(Optional<Parameters.Problem> problem) {
        if (problem.isPresent()) {
            String message = problem.get().message();
            err.print(message.isEmpty() ? "" : "ERROR: " + message + "\n");
            err.print(problem.get().hint().isEmpty() ? "" : "HINT: " + problem.get().hint() + "\n");
            err.flush();
        }
        return problem.isPresent();
    }

    private int run(Prepared script, TraceOptions options, @Nullable Target child)
            throws IOException {
        if (ended) {
            return early();
        }
        try (TraceSession session = TraceSession.open(script, options, this::output)) {
            return switch (options.mode()) {
                case TRACE -> run(session, child);
                case TEST -> TrialRuns.test(session) ? ExitCode.DONE : ExitCode.NEGATIVE;
                case BENCH -> TrialRuns.bench(session);
            };
        } catch (LoadException e) {
            boolean ofTool = !arguments.tool.isEmpty() && !arguments.verbose;
            err.println(
                    ofTool
                            ? ToolRefusal.text(arguments.tool, e)
                            : TraceRefusal.text(e, arguments.verbose));
            err.flush();
            return ExitCode.NEGATIVE;
        } catch (AttachException e) {
            err.println(
                    arguments.tool.isEmpty()
                            ? TraceRefusal.text(e)
                            : ToolRefusal.text(arguments.tool, e));
            err.flush();
            return ExitCode.NEGATIVE;
        } catch (ExecException e) {
            err.println((arguments.tool.isEmpty() ? "ERROR: " : "sonde: ") + e.getMessage());
            err.flush();
            return ExitCode.NEGATIVE;
        }
    }

    /** Why a script cannot run here; empty when all its probes could be attached. */
    static Optional<String> refusal(TraceArguments arguments, SourceText text) throws IOException {
        TraceCommand trial =
                new TraceCommand(
                        arguments,
                        new PrintWriter(Writer.nullWriter()),
                        OutputStream.nullOutputStream());
        TraceOptions options = trial.options(0);
        Diagnostics diagnostics = new Diagnostics();
        Compilation compiled = Compilation.of(text, options, Machine.here(), diagnostics);
        if (compiled == null) {
            return Optional.of(diagnostics.all().getFirst().message());
        }
        try (TraceSession session = TraceSession.open(compiled, options, trial::output)) {
            session.attach();
            return Optional.empty();
        } catch (IOException | LoadException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private TraceOptions options(int child) {
        Path directory = Path.of(".");
        if (arguments.file != null && arguments.file.indexOf('{') < 0) {
            Path parent = Path.of(arguments.file).toAbsolutePath().getParent();
            directory = parent == null ? directory : parent;
        }
        return new TraceOptions(
                Parameters.of(arguments.parameters),
                arguments.pid,
                child,
                arguments.unsafe,
                arguments.mode,
                arguments.helperErrors,
                new Includes(arguments.headerFolders, arguments.headers),
                arguments.environment(),
                directory,
                !arguments.noWarnings,
                arguments.probeFilter,
                arguments.traceableFunctions,
                arguments.disabled,
                arguments.places(line -> System.err.println("sonde: " + line)),
                arguments.stacks(),
                arguments.includesSelf ? 0 : (int) ProcessHandle.current().pid());
    }

    private Output output(Names all) {
        boolean ofTool = !arguments.tool.isEmpty();
        Names names = ofTool ? new WithoutTracer(all) : all;
        OutputStream to = arguments.buffer.equals("full") ? new FullBlocks(out) : out;
        MapRows.Style usual =
                new MapRows.Style(arguments.order, arguments.form(), arguments.folded);
        boolean text = arguments.format.equals("text");
        MapRows.Style style =
                ofTool ? usual.ofTool(!text, "--map-keys N makes room for more") : usual;
        boolean json = arguments.format.equals("json");
        if (arguments.rowStyle.isEmpty()) {
            return json
                    ? new JsonOutput(to, names, style)
                    : new TextOutput(to, System.err, names, style);
        }
        RowStyle rows = arguments.rowStyle.get();
        return json
                ? JsonOutput.ofRows(to, names, style, rows)
                : TextOutput.ofRows(to, System.err, names, style, rows);
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

    private int run(TraceSession session, @Nullable Target child)
            throws IOException, AttachException {
        running = session;
        if (ended) {
            return early();
        }
        try (TraceSignals.Listener _ = TraceSignals.listen(session)) {
            if (!arguments.dryRun) {
                session.begin(arguments.comm);
            }
            int attached = session.attach();
            if (!arguments.quiet) {
                session.output().attachedProbes(attached);
            }
            notifyAttached(session);
            if (arguments.dryRun) {
                return ExitCode.DONE;
            }
            session.drain();
            follow(session, child, deadline());
            session.end();
            return session.exitCode();
        }
    }

    /** The user's end came while the script was compiled and loaded, which takes its time. */
    private int early() {
        err.println("Ended before the probes were attached: nothing was traced.");
        err.flush();
        return ExitCode.DONE;
    }

    private void notifyAttached(TraceSession session) throws IOException {
        session.output().flush();
        if (System.getenv(ATTACHED) != null) {
            out.flush();
            System.out.println(ATTACHED);
            System.out.flush();
        }
    }

    private BooleanSupplier deadline() {
        long start = System.nanoTime();
        return () -> System.nanoTime() - start < arguments.durationNanos;
    }

    private void follow(TraceSession session, @Nullable Target child, BooleanSupplier time)
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
        OptionalInt pid = arguments.pid.isPresent() ? arguments.pid : arguments.watched;
        if (pid.isPresent()) {
            Path process = Path.of("/proc/" + pid.getAsInt());
            session.run(() -> Files.exists(process) && time.getAsBoolean());
        } else {
            session.run(time);
        }
    }
}
