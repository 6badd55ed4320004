package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.lang.bpftrace.expand.Option;
import sonde.tools.script.ScriptTool;

/** {@code sonde tool}: runs a ready script of {@link ScriptTool} as {@code sonde trace} would. */
final class ToolCommand {
    private static final String USAGE =
            """
            USAGE:
                sonde tool --list
                sonde tool NAME [options]
                sonde tool NAME --help

            """;
    private static final String GENERAL =
            """
            OPTIONS OF EVERY TOOL:
                -c COMMAND     start a command; the tool ends with it
                -p, --pid PID  only this process; the tool ends with it
                --duration T   end after a time: 500ms, 10s, 5m
                -f FORMAT      text or json (a line of JSON for each thing printed)
                -o FILE        print to a file
                -v             say how many probes were attached, and what the kernel says
                --plan         say which script of the tool this kernel takes, and why
                --script       print the script and end
            """;

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
        switch (first) {
            case "--list", "-l" -> {
                return list(out);
            }
            case "--help", "-h", "" -> {
                out.print(USAGE + GENERAL);
                return first.isEmpty() ? ExitCode.USAGE : ExitCode.DONE;
            }
            default -> {}
        }
        Optional<ScriptTool> tool = ScriptTool.find(first);
        if (tool.isEmpty()) {
            err.println("sonde: no tool is called '" + first + "'");
            err.println("       'sonde tool --list' lists them");
            return ExitCode.USAGE;
        }
        return new ToolCommand(tool.get(), out, err).run(words.subList(1, words.size()));
    }

    private static int list(PrintWriter out) {
        for (String name : ScriptTool.names()) {
            ScriptTool.find(name).ifPresent(tool -> out.printf("%-16s %s%n", name, tool.summary()));
        }
        return ExitCode.DONE;
    }

    private int run(List<String> words) {
        try {
            ToolWords read = ToolWords.of(words, tool.options());
            if (read.help()) {
                help();
                return ExitCode.DONE;
            }
            if (read.script()) {
                out.print(tool.variants().getFirst().text());
                return ExitCode.DONE;
            }
            TraceArguments arguments = read.arguments("");
            ScriptTool.Variant variant = choose(arguments);
            arguments = read.arguments(variant.text());
            arguments.programName = variant.name();
            arguments.quiet |= !arguments.verbose;
            return TraceCommand.run(arguments, err);
        } catch (TraceArguments.UsageException e) {
            err.println("sonde: " + e.getMessage());
            err.println("       'sonde tool " + tool.name() + " --help' says what it takes");
            return ExitCode.USAGE;
        } catch (IOException e) {
            err.println("ERROR: " + e.getMessage());
            err.flush();
            return ExitCode.IMPOSSIBLE;
        }
    }

    /** The first script that can run here; the last one when none can, to say why. */
    private ScriptTool.Variant choose(TraceArguments arguments) throws IOException {
        List<String> plan = new ArrayList<>();
        ScriptTool.Variant chosen = tool.variants().getLast();
        for (ScriptTool.Variant variant : tool.variants()) {
            boolean last = variant.equals(tool.variants().getLast());
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

    private void help() {
        out.println("sonde tool " + tool.name() + ": " + tool.summary());
        tool.description().forEach(out::println);
        List<Option> options = tool.options();
        if (!options.isEmpty()) {
            out.println();
            out.println("OPTIONS:");
        }
        for (Option option : options) {
            String word =
                    "--" + option.name() + (option.kind() == Option.Kind.BOOLEAN ? "" : " VALUE");
            String standard =
                    option.kind() == Option.Kind.BOOLEAN || option.standard().isEmpty()
                            ? ""
                            : " (" + option.standard() + ")";
            out.printf("    %-18s %s%s%n", word, option.help(), standard);
        }
        out.println();
        out.print(GENERAL);
        out.println();
        out.println("EXAMPLES:");
        tool.examples().forEach(example -> out.println("    sonde tool " + example));
    }
}
