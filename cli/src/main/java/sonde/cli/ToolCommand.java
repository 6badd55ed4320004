package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import sonde.event.result.Listing;
import sonde.lang.output.RowStyle;
import sonde.sys.ProcessCalls;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.HelpText;
import sonde.tools.option.OptionException;
import sonde.tools.option.OptionWords;
import sonde.tools.record.RunningTarget;
import sonde.tools.script.ScriptTool;
import sonde.tools.script.ScriptTool.ToolVariant;
import sonde.tools.script.ToolArguments;
import sonde.tools.script.ToolModel;
import sonde.tools.script.ToolRecipe;
import sonde.tools.script.ToolRules;
import sonde.tools.trace.TraceArguments;
import sonde.tools.trace.TraceArguments.ToolScript;
import sonde.tools.trace.TraceRequest;

/** {@code sonde tool}: runs a ready script of {@link ScriptTool} as {@code sonde trace} would. */
final class ToolCommand {
    static final String MODEL =
            """
            sonde tool [--json] --list
            sonde tool NAME [OPTIONS]
            sonde tool NAME --help

            Run a ready-made script. 'sonde tool --list' lists them.

            Arguments:
              -- [NAME...]

            Options:
              -l, --list      list the tools
              --json          with --list: print JSON
            """;

    /** Of tracefs. */
    private static final Path EVENTS = Path.of("/sys/kernel/tracing/events");

    private final ScriptTool tool;
    private final PrintWriter err;

    private ToolCommand(ScriptTool tool, PrintWriter err) {
        this.tool = tool;
        this.err = err;
    }

    /** Runs the command line behind {@code tool}. */
    static int run(List<String> words, PrintWriter err) {
        try {
            return act(words, err);
        } catch (IOException e) {
            return FailureMessages.unwrapped("sonde: ", e, err);
        }
    }

    private static int act(List<String> words, PrintWriter err) throws IOException {
        String first = words.isEmpty() ? "" : words.getFirst();
        if (first.isEmpty() || first.startsWith("-")) {
            return withoutTool(words, err);
        }
        Optional<ScriptTool> tool = ScriptTool.find(first);
        if (tool.isEmpty()) {
            String bare = first.replaceFirst("(?:-bpfcc|\\.bt|\\.py)$", "");
            Optional<String> nearest = ScriptTool.elsewhere(bare);
            String like =
                    nearest.isPresent()
                            ? ""
                            : ScriptTool.like(bare)
                                    .map(name -> "; did you mean '" + name + "'?")
                                    .orElse("");
            err.println("sonde: no tool is called '" + first + "'" + like);
            nearest.ifPresent(said -> err.println("       " + said));
            err.println("       'sonde tool --list' lists them");
            return ExitCode.USAGE;
        }
        return new ToolCommand(tool.get(), err).run(words.subList(1, words.size()));
    }

    private static int withoutTool(List<String> words, PrintWriter err) throws IOException {
        CommandModel model = CommandModel.parse(MODEL + CommandModel.COMMON);
        GivenOptions given;
        try {
            given = OptionWords.read(model, words);
        } catch (OptionException e) {
            return FailureMessages.usage(e, "tool", err);
        }
        if (given.has("--list")) {
            return ResultPrinter.onOut(ToolRecipe.list(), given.has("--json"));
        }
        if (!given.words().isEmpty()) {
            return act(List.of(given.words().getFirst(), "--help"), err);
        }
        help(everyTool());
        return given.has("--help") ? ExitCode.DONE : ExitCode.USAGE;
    }

    /** With the options of every tool. */
    static CommandModel everyTool() {
        return CommandModel.parse(MODEL + ToolModel.everyTool() + CommandModel.COMMON);
    }

    private static int help(CommandModel model) throws IOException {
        String text = HelpText.of(model, TerminalKind.width(TerminalKind.STDOUT));
        return ResultPrinter.onOut(Listing.ofLines(out -> out.print(text)), false);
    }

    private int run(List<String> words) throws IOException {
        try {
            ToolArguments read = ToolArguments.of(tool, words);
            if (read.help()) {
                return help(read.model());
            }
            if (read.general().has("--version")) {
                return ResultPrinter.onOut(
                        Listing.ofLines(out -> out.println("sonde " + Main.VERSION)), false);
            }
            if (read.script()) {
                return ResultPrinter.onOut(ToolRecipe.script(tool), false);
            }
            if (ProcessCalls.geteuid() != 0 && !Files.isReadable(EVENTS)) {
                throw new IOException(
                        "tools look at the kernel; run them as root: sudo sonde tool "
                                + tool.name());
            }
            for (int pid : read.pids()) {
                RunningTarget.check(pid);
            }
            Optional<Path> program = read.program();
            if (program.isPresent() && !Files.exists(program.get())) {
                throw new IOException("no such file: " + program.get());
            }
            TraceRequest trial = TraceCommand.request(arguments(read, "", ""));
            ToolVariant variant =
                    ToolRecipe.choose(
                            read.variants(), trial, trial.plan() ? err::println : _ -> {});
            TraceArguments arguments = arguments(read, variant.text(), variant.name());
            if (program.isPresent()) {
                ToolRecipe.checkFunction(
                        TraceCommand.request(arguments), variant, read.parameters().getFirst());
            }
            ToolRecipe.checkOutput(read.general().text("--output"), read.general().has("--force"));
            return TraceCommand.run(arguments, "sonde: ", err);
        } catch (OptionException e) {
            err.println("sonde: " + e.getMessage());
            err.println("       'sonde tool " + tool.name() + " --help' says what it takes");
            return ExitCode.USAGE;
        }
    }

    /** The screen is cleared where there is one. */
    private static RowStyle onScreen(RowStyle style, GivenOptions given) {
        boolean screen =
                style.clears()
                        && !given.has("--json")
                        && given.text("--format", "text").equals("text")
                        && !given.has("--output")
                        && TerminalKind.obeys(System.getenv())
                        && TerminalKind.width(TerminalKind.STDOUT) > 0;
        return screen ? style : style.onPaper();
    }

    private TraceArguments arguments(ToolArguments read, String text, String textName) {
        ToolRules rules = tool.rules();
        return TraceArguments.of(
                read.general(),
                new ToolScript(
                        tool.name(),
                        rules.takes().isEmpty() ? "" : read.parameters().getFirst(),
                        text,
                        textName,
                        read.parameters(),
                        read.mapKeys(),
                        read.pid(),
                        read.tracerKeepsToPid(),
                        rules.rows()
                                ? Optional.of(onScreen(read.rowStyle(), read.general()))
                                : Optional.empty(),
                        read.general().text("--format", "text").equals("folded")
                                ? rules.folded().orElse(List.of())
                                : rules.stacks()));
    }
}
