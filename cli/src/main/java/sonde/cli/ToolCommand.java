package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import sonde.event.result.Listing;
import sonde.lang.output.RowStyle;
import sonde.sys.Processes;
import sonde.tools.record.RunningTarget;
import sonde.tools.script.ScriptTool;
import sonde.tools.script.ToolOptions;
import sonde.tools.script.ToolRecipe;
import sonde.tools.script.ToolUseException;
import sonde.tools.script.ToolWords;

/** {@code sonde tool}: runs a ready script of {@link ScriptTool} as {@code sonde trace} would. */
final class ToolCommand {
    private static final String USAGE =
            """
            USAGE:
                sonde tool --list
                sonde tool NAME [options]
                sonde tool NAME --help

            """;
    private static final String PID_LINE =
            "    -p, --pid PID  only this process; the tool ends with it";
    private static final String COMMAND = "only it and what it starts";
    private static final String COMMAND_LINE =
            "    -c COMMAND     start a command; " + COMMAND + "; the tool ends with it";
    private static final String MACHINE_LINE =
            "    -c COMMAND     start a command; the tool ends with it, and shows the whole machine";
    private static final String SELF_LINE =
            "    --include-self sonde's own process too, which is left out else";
    private static final String FOLDED_LINE =
            "    --folded       stacks in lines for flame graph tools (tools of stacks)";
    private static final String FOLDED_FORMAT = "                   or folded (tools of stacks)";
    private static final Set<String> FOLDED = Set.of(FOLDED_LINE, FOLDED_FORMAT);
    private static final String GENERAL =
            """
            OPTIONS OF EVERY TOOL:
            %s
            %s
                -d, --duration T  end after a time: 500ms, 10s, 5m
                -f FORMAT      text, csv, or json (an object for each line, or each list)
            %s
            %s
                --map-keys N   room for so many rows in each table that the tool keeps
                -o FILE        print to a file
                -v             say how many probes were attached, and why a tool cannot run
            %s
                --plan         say which script of the tool this kernel takes, and why
                --script       print the script and end
            """
                    .formatted(COMMAND_LINE, PID_LINE, FOLDED_FORMAT, FOLDED_LINE, SELF_LINE);

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
            if (String.valueOf(e.getMessage()).contains("Broken pipe")) {
                return ExitCode.DONE; // nobody reads any more
            }
            err.println("sonde: " + e.getMessage());
            err.flush();
            return ExitCode.IMPOSSIBLE;
        }
    }

    private static int act(List<String> words, PrintWriter err) throws IOException {
        String first = words.isEmpty() ? "" : words.getFirst();
        switch (first) {
            case "--list", "-l" -> {
                return Shown.onOut(ToolRecipe.list(), false);
            }
            case "--help", "-h", "" -> {
                if (words.size() > 1 && ScriptTool.find(words.get(1)).isPresent()) {
                    return act(List.of(words.get(1), "--help"), err);
                }
                Shown.onOut(Listing.ofLines(out -> out.print(USAGE + GENERAL)), false);
                return first.isEmpty() ? ExitCode.USAGE : ExitCode.DONE;
            }
            default -> {}
        }
        Optional<ScriptTool> tool = ScriptTool.find(first);
        if (tool.isEmpty()) {
            String like =
                    ScriptTool.like(first).map(name -> "; did you mean '" + name + "'?").orElse("");
            err.println("sonde: no tool is called '" + first + "'" + like);
            err.println("       'sonde tool --list' lists them");
            return ExitCode.USAGE;
        }
        return new ToolCommand(tool.get(), err).run(words.subList(1, words.size()));
    }

    private int run(List<String> words) throws IOException {
        try {
            ToolWords read = ToolWords.of(tool, words);
            if (read.help()) {
                return Shown.onOut(Listing.ofLines(this::help), false);
            }
            if (read.script()) {
                return Shown.onOut(ToolRecipe.script(tool), false);
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
            TraceArguments trial = arguments(read, "");
            ScriptTool.Variant variant =
                    ToolRecipe.choose(
                            read.variants(),
                            TraceCommand.request(trial),
                            trial.plan ? err::println : _ -> {});
            TraceArguments arguments = arguments(read, variant.text());
            if (program.isPresent()) {
                ToolRecipe.checkFunction(
                        TraceCommand.request(arguments), variant, arguments.parameters.getFirst());
            }
            checkOutput(arguments);
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
        } catch (ToolUseException | TraceArguments.UsageException e) {
            err.println("sonde: " + e.getMessage());
            err.println("       'sonde tool " + tool.name() + " --help' says what it takes");
            return ExitCode.USAGE;
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

    private static void checkOutput(TraceArguments arguments) throws IOException {
        String output = arguments.output;
        Path folder = output == null ? null : Path.of(output).toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            throw new IOException("-o " + output + ": there is no folder " + folder);
        }
    }

    /** As if they had been given to {@code sonde trace} with a program. */
    private static TraceArguments arguments(ToolWords read, String program)
            throws TraceArguments.UsageException {
        List<String> all = new ArrayList<>(read.general());
        all.addAll(List.of("-e", program));
        all.addAll(read.parameters());
        TraceArguments arguments = TraceArguments.parse(all);
        arguments.mapKeys = read.mapKeys();
        if (read.tracerKeepsToPid()) {
            arguments.pid = read.pid();
        } else {
            arguments.watched = read.pid();
        }
        return arguments;
    }

    private void help(PrintWriter out) {
        String takes = tool.rules().takes();
        out.println("sonde tool " + tool.name() + ": " + tool.summary());
        tool.description().forEach(out::println);
        out.println();
        out.println("USAGE:");
        String word = (takes.isEmpty() ? "" : " " + takes) + ToolOptions.words(tool);
        out.println("    sonde tool " + tool.name() + word + " [options]");
        List<ToolOptions.Line> lines = ToolOptions.lines(tool);
        if (!lines.isEmpty()) {
            out.println();
            out.println("OPTIONS:");
        }
        for (ToolOptions.Line line : lines) {
            out.printf("    %-20s %s%n", line.option(), line.text());
        }
        out.println();
        GENERAL.lines()
                .map(this::ownLine)
                .filter(line -> !FOLDED.contains(line) || tool.rules().folded().isPresent())
                .filter(line -> !line.isEmpty())
                .forEach(out::println);
        out.println();
        out.println("EXAMPLES:");
        tool.examples().forEach(example -> out.println("    sonde tool " + example));
    }

    /** A line of every tool as it holds for this one; empty where it does not. */
    private String ownLine(String line) {
        boolean processes = tool.rules().withoutPid().isEmpty();
        return switch (line) {
            case PID_LINE -> pidLine();
            case COMMAND_LINE -> processes ? commandLine() : MACHINE_LINE;
            case SELF_LINE -> processes ? line : "";
            default -> line;
        };
    }

    private String commandLine() {
        String own = tool.rules().command();
        return own.isEmpty() ? COMMAND_LINE : COMMAND_LINE.replace(COMMAND, own);
    }

    /** {@code -p} in the tool's own words; empty where it does not hold. */
    private String pidLine() {
        if (!tool.rules().withoutPid().isEmpty()) {
            return "";
        }
        String own = ToolOptions.pid(tool);
        return own.isEmpty()
                ? PID_LINE
                : PID_LINE.replace("only this process", own)
                        .replace("-p, --pid PID ", "-p, --pid PID,... ")
                        .replace("ends with it", "ends with it when it is one");
    }
}
