package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.lang.output.RowStyle;
import sonde.sys.Processes;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.HelpText;
import sonde.tools.option.OptionException;
import sonde.tools.option.OptionWords;
import sonde.tools.record.RunningTarget;
import sonde.tools.script.ScriptTool;
import sonde.tools.script.ToolModel;
import sonde.tools.script.ToolWords;

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

    /** What the language says where a program has no such function. */
    private static final String NO_FUNCTION = "No matches for u";

    /** Of tracefs. */
    private static final Path EVENTS = Path.of("/sys/kernel/tracing/events");

    private final ScriptTool tool;
    private final PrintWriter out;
    private final PrintWriter err;

    private ToolCommand(ScriptTool tool, PrintWriter out, PrintWriter err) {
        this.tool = tool;
        this.out = out;
        this.err = err;
    }

    /** Runs the command line behind {@code tool}. */
    static int run(List<String> words, PrintWriter out, PrintWriter err) {
        String first = words.isEmpty() ? "" : words.getFirst();
        if (first.isEmpty() || first.startsWith("-")) {
            return withoutTool(words, out, err);
        }
        Optional<ScriptTool> tool = ScriptTool.find(first);
        if (tool.isEmpty()) {
            String like =
                    ScriptTool.like(first).map(name -> "; did you mean '" + name + "'?").orElse("");
            err.println("sonde: no tool is called '" + first + "'" + like);
            err.println("       'sonde tool --list' lists them");
            return ExitCode.USAGE;
        }
        return new ToolCommand(tool.get(), out, err).run(words.subList(1, words.size()));
    }

    private static int withoutTool(List<String> words, PrintWriter out, PrintWriter err) {
        CommandModel model = CommandModel.parse(MODEL + CommandModel.COMMON);
        try {
            GivenOptions given = OptionWords.read(model, words);
            if (given.has("--list")) {
                return Shown.onOut(ScriptTool.listing(), given.has("--json"));
            }
            if (!given.words().isEmpty()) {
                return run(List.of(given.words().getFirst(), "--help"), out, err);
            }
            CommandModel whole =
                    CommandModel.parse(MODEL + ToolModel.everyTool() + CommandModel.COMMON);
            out.print(HelpText.of(whole, Terminal.width(Terminal.STDOUT)));
            return given.has("--help") ? ExitCode.DONE : ExitCode.USAGE;
        } catch (OptionException | IOException e) {
            return Failures.execution(e, "tool", words.contains("--debug"), err);
        }
    }

    private int run(List<String> words) {
        try {
            ToolWords read = ToolWords.of(tool, words);
            if (read.help()) {
                out.print(HelpText.of(read.model(), Terminal.width(Terminal.STDOUT)));
                return ExitCode.DONE;
            }
            if (read.script()) {
                out.print(tool.variants().getFirst().text());
                return ExitCode.DONE;
            }
            if (Processes.geteuid() != 0 && !Files.isReadable(EVENTS)) {
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
            ScriptTool.Variant variant = choose(read.variants(), arguments(read, ""));
            TraceArguments arguments = arguments(read, variant.text());
            if (program.isPresent()) {
                checkFunction(arguments, variant);
            }
            checkOutput(arguments, read.general().has("--force"));
            arguments.programName = variant.name();
            arguments.rowStyle =
                    tool.rules().rows()
                            ? Optional.of(onScreen(read.rowStyle(), arguments))
                            : Optional.empty();
            arguments.folded = tool.rules().folded().orElse(List.of());
            arguments.tool = tool.name();
            arguments.toolProbe =
                    tool.rules().takes().isEmpty() ? "" : read.parameters().getFirst();
            arguments.quiet |= !arguments.verbose;
            return TraceCommand.run(arguments, err);
        } catch (OptionException e) {
            err.println("sonde: " + e.getMessage());
            err.println("       'sonde tool " + tool.name() + " --help' says what it takes");
            return ExitCode.USAGE;
        } catch (IOException e) {
            err.println("sonde: " + e.getMessage());
            err.flush();
            return ExitCode.IMPOSSIBLE;
        }
    }

    /** The screen is cleared where there is one. */
    private static RowStyle onScreen(RowStyle style, TraceArguments arguments) {
        boolean screen =
                style.clears()
                        && arguments.format.equals("text")
                        && arguments.output == null
                        && Terminal.width(Terminal.STDOUT) > 0;
        return screen ? style : style.onPaper();
    }

    /** Says that a program lacks the function in one line, without the script's lines. */
    private static void checkFunction(TraceArguments arguments, ScriptTool.Variant variant)
            throws IOException {
        Optional<String> refusal = TraceCommand.refusal(arguments, variant.source());
        if (refusal.isPresent() && refusal.get().startsWith(NO_FUNCTION)) {
            String word = arguments.parameters.getFirst();
            int colon = word.indexOf(':', word.indexOf('/'));
            String file = word.substring(word.indexOf('/'), colon);
            throw new IOException("no function " + word.substring(colon + 1) + " in " + file);
        }
    }

    private static void checkOutput(TraceArguments arguments, boolean force) throws IOException {
        String output = arguments.output;
        Path folder = output == null ? null : Path.of(output).toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            throw new IOException("-o " + output + ": there is no folder " + folder);
        }
        if (output != null && !force && Files.isRegularFile(Path.of(output))) {
            throw new OptionException(output + " exists; --force overwrites it");
        }
    }

    /** As if they had been given to {@code sonde trace} with a program. */
    private static TraceArguments arguments(ToolWords read, String program) {
        TraceArguments arguments = TraceArguments.of(read.general());
        arguments.program = Optional.of(program);
        arguments.parameters(read.parameters());
        arguments.mapKeys = read.mapKeys();
        if (read.tracerKeepsToPid()) {
            arguments.pid = read.pid();
        } else {
            arguments.watched = read.pid();
        }
        return arguments;
    }

    /** The first script that can run here; the last one when none can, to say why. */
    private ScriptTool.Variant choose(List<ScriptTool.Variant> variants, TraceArguments arguments)
            throws IOException {
        List<String> plan = new ArrayList<>();
        ScriptTool.Variant chosen = variants.getLast();
        for (ScriptTool.Variant variant : variants) {
            boolean last = variant.equals(variants.getLast());
            Optional<String> refusal =
                    last ? Optional.empty() : TraceCommand.refusal(arguments, variant.source());
            if (refusal.isEmpty()) {
                chosen = variant;
                break;
            }
            plan.add("plan: not " + variant.name() + ": " + refusal.get());
        }
        plan.add("plan: " + chosen.name());
        if (arguments.plan) {
            plan.forEach(err::println);
            err.flush();
        }
        return chosen;
    }
}
