package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import sonde.cli.ResultPrinter.OutputForm;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.declare.IncludeFolders;
import sonde.lang.source.SourceText;
import sonde.tools.option.CommandModel;
import sonde.tools.option.HelpText;
import sonde.tools.option.OptionException;
import sonde.tools.record.RunningTarget;
import sonde.tools.trace.ScriptInput;
import sonde.tools.trace.TraceInformation;
import sonde.tools.trace.TraceListing;
import sonde.tools.trace.TraceRecipe;
import sonde.tools.trace.TraceRequest;

/** {@code sonde trace}: compiles a script and runs it until it ends. */
final class TraceCommand {
    /** bpftrace's tests wait for this line, and ask for it by a variable of that name. */
    private static final String ATTACHED = "__BPFTRACE_NOTIFY_PROBES_ATTACHED";

    private final TraceArguments arguments;
    private final PrintWriter err;

    private TraceCommand(TraceArguments arguments, PrintWriter err) {
        this.arguments = arguments;
        this.err = err;
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
        try {
            return new TraceCommand(arguments, err).run();
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

    private int run() throws IOException {
        if (arguments.help) {
            CommandModel model = CommandModel.parse(TraceArguments.MODEL + CommandModel.COMMON);
            return show(HelpText.of(model, TerminalKind.width(TerminalKind.STDOUT)));
        }
        if (arguments.version) {
            boolean alias = arguments.comm.equals("bpftrace");
            return show((alias ? "bpftrace v0.26 by " : "") + "sonde " + Main.VERSION + "\n");
        }
        if (arguments.information) {
            return show(TraceInformation.of(Main.VERSION));
        }
        if (arguments.pid.isPresent()) {
            RunningTarget.check(arguments.pid.getAsInt());
        }
        TraceRequest request = request(arguments);
        if (arguments.list) {
            TraceListing listing = new TraceListing(request, err);
            show(listing.result());
            return listing.found() ? ExitCode.DONE : ExitCode.NEGATIVE;
        }
        if (ScriptInput.isCompiled(request.script())) {
            return trace(request, Optional.empty());
        }
        SourceText text = ScriptInput.read(request.script(), System.in, err);
        if (text == null) {
            return ExitCode.NEGATIVE;
        }
        if (arguments.formatted != null) {
            Optional<Result> formatted = TraceRecipe.formatted(request, text, err);
            return formatted.isPresent() ? show(formatted.get()) : ExitCode.NEGATIVE;
        }
        return arguments.compile
                ? TraceRecipe.compile(request, text, Path.of(String.valueOf(arguments.output)), err)
                : trace(request, Optional.of(text));
    }

    private int trace(TraceRequest request, Optional<SourceText> text) throws IOException {
        Optional<Runnable> attached =
                System.getenv(ATTACHED) == null
                        ? Optional.empty()
                        : Optional.of(TraceCommand::attached);
        try (TraceRecipe recipe = TraceRecipe.open(request, err, System.err, attached)) {
            Optional<Result> output = recipe.result(text);
            if (output.isPresent()) {
                show(output.get());
            }
            return recipe.status();
        }
    }

    private static void attached() {
        try {
            ResultPrinter.bytes((ATTACHED + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private int show(String text) throws IOException {
        return show(Listing.ofLines(out -> out.print(text)));
    }

    private int show(Result result) throws IOException {
        OutputForm form = arguments.format.equals("json") ? OutputForm.JSON : OutputForm.TEXT;
        return arguments.output == null || arguments.compile
                ? ResultPrinter.onOut(result, form)
                : ResultPrinter.inFile(result, form, Path.of(arguments.output), true);
    }

    /** What the words ask for. */
    static TraceRequest request(TraceArguments arguments) {
        return new TraceRequest(
                new TraceRequest.ScriptChoice(
                        arguments.program,
                        arguments.programName,
                        arguments.formatted == null ? arguments.file : arguments.formatted),
                options(arguments),
                new TraceRequest.PrintStyle(
                        arguments.order,
                        arguments.form(),
                        arguments.parts,
                        arguments.rowStyle,
                        arguments.buffer.equals("full")),
                new TraceRequest.TraceEnd(
                        Optional.ofNullable(arguments.command),
                        arguments.watched,
                        arguments.durationNanos),
                new TraceRequest.MessageStyle(
                        arguments.tool, arguments.toolProbe, arguments.verbose, arguments.quiet),
                arguments.dumps,
                arguments.plan,
                arguments.dryRun,
                arguments.comm);
    }

    private static TraceOptions options(TraceArguments arguments) {
        Path directory = Path.of(".");
        if (arguments.file != null && arguments.file.indexOf('{') < 0) {
            Path parent = Path.of(arguments.file).toAbsolutePath().getParent();
            directory = parent == null ? directory : parent;
        }
        return new TraceOptions(
                ScriptParameters.of(arguments.parameters),
                arguments.pid,
                0,
                arguments.unsafe,
                arguments.mode,
                arguments.helperErrors,
                new IncludeFolders(arguments.headerFolders, arguments.headers),
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
}
