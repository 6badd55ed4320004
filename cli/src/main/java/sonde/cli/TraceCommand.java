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
import sonde.lang.source.SourceText;
import sonde.tools.option.CommandModel;
import sonde.tools.option.HelpText;
import sonde.tools.option.OptionException;
import sonde.tools.record.RunningTarget;
import sonde.tools.trace.ScriptInput;
import sonde.tools.trace.TraceArguments;
import sonde.tools.trace.TraceArguments.TraceAction;
import sonde.tools.trace.TraceInformation;
import sonde.tools.trace.TraceListing;
import sonde.tools.trace.TraceRecipe;
import sonde.tools.trace.TraceRequest;
import sonde.tools.trace.TraceRun;

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
        return run(arguments, "ERROR: ", err);
    }

    /**
     * Runs a command line that was read.
     *
     * @param prefix of what is said when it cannot
     */
    static int run(TraceArguments arguments, String prefix, PrintWriter err) {
        try {
            return new TraceCommand(arguments, err).run();
        } catch (IOException | UncheckedIOException e) {
            if (arguments.isDebug()) {
                e.printStackTrace(err);
            }
            return FailureMessages.unwrapped(prefix, e, err);
        }
    }

    private int run() throws IOException {
        return switch (arguments.action()) {
            case HELP -> {
                CommandModel model = CommandModel.parse(TraceArguments.MODEL + CommandModel.COMMON);
                yield show(HelpText.of(model, TerminalKind.width(TerminalKind.STDOUT)));
            }
            case VERSION -> {
                boolean alias = request(arguments).comm().equals("bpftrace");
                yield show((alias ? "bpftrace v0.26 by " : "") + "sonde " + Main.VERSION + "\n");
            }
            case INFORMATION -> show(TraceInformation.of(Main.VERSION));
            case LIST, FORMAT, COMPILE, RUN -> script(request(arguments));
        };
    }

    private int script(TraceRequest request) throws IOException {
        if (request.options().pid().isPresent()) {
            RunningTarget.check(request.options().pid().getAsInt());
        }
        if (arguments.action() == TraceAction.LIST) {
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
        return switch (arguments.action()) {
            case FORMAT -> {
                Optional<Result> formatted = TraceRecipe.formatted(request, text, err);
                yield formatted.isPresent() ? show(formatted.get()) : ExitCode.NEGATIVE;
            }
            case COMPILE ->
                    TraceRecipe.compile(request, text, arguments.output().orElseThrow(), err);
            default -> trace(request, Optional.of(text));
        };
    }

    private int trace(TraceRequest request, Optional<SourceText> text) throws IOException {
        Optional<Runnable> attached =
                System.getenv(ATTACHED) == null
                        ? Optional.empty()
                        : Optional.of(TraceCommand::attached);
        try (TraceRun run = new TraceRun(request, err, System.err, attached)) {
            Optional<Result> output = run.result(text);
            if (output.isPresent()) {
                show(output.get());
            }
            return run.status();
        }
    }

    private static void attached() {
        try {
            ResultPrinter.bytes((ATTACHED + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the words ask for; questions to servers go to standard error at once. */
    static TraceRequest request(TraceArguments arguments) {
        return arguments.request(line -> System.err.println("sonde: " + line));
    }

    private int show(String text) throws IOException {
        return show(Listing.ofLines(out -> out.print(text)));
    }

    private int show(Result result) throws IOException {
        OutputForm form = arguments.isJson() ? OutputForm.JSON : OutputForm.TEXT;
        Optional<Path> output = arguments.output();
        return output.isEmpty() || arguments.action() == TraceAction.COMPILE
                ? ResultPrinter.onOut(result, form)
                : ResultPrinter.whileWritten(result, form, output.get());
    }
}
