package sonde.cli;

import static java.util.Map.entry;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.tools.probe.ProbeAnswer;
import sonde.view.Escape;

/** {@code sonde probe}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        description = "Sets probes at functions and lines of the kernel or a program.",
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Named probes stay in the kernel until 'sonde probe del' removes them.",
            "",
            "Examples:",
            "  sonde probe funcs -x ./server 'parse_*'       functions of a program",
            "  sonde probe lines start_dl_timer              source, with the lines for probes",
            "  sonde probe vars start_dl_timer:16            variables there, and where they are",
            "  sonde probe add 'start_dl_timer:16 timer'     a probe that records a variable",
            "  sonde probe add -x ./server 'parse:7 len name:string'",
            "  sonde record -e probe_server:parse_L7 -- ./server",
            "  sonde probe del 'probe_server:*'"
        })
final class ProbeCommand implements Callable<Integer> {
    private static final List<Map.Entry<String, Supplier<Object>>> COMMANDS =
            List.of(
                    entry("funcs", ProbeFuncsCommand::new),
                    entry("lines", ProbeLinesCommand::new),
                    entry("vars", ProbeVarsCommand::new),
                    entry("add", ProbeAddCommand::new),
                    entry("list", ProbeListCommand::new),
                    entry("del", ProbeDelCommand::new));

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeCommand() {}

    /** The arguments with perf's options as our words. */
    static String[] words(String[] args) {
        boolean known =
                args.length > 1 && COMMANDS.stream().anyMatch(one -> one.getKey().equals(args[1]));
        return known ? args : PerfProbeWords.of(args);
    }

    static void addCommands(CommandLine line, String named) {
        boolean known = COMMANDS.stream().anyMatch(command -> command.getKey().equals(named));
        for (Map.Entry<String, Supplier<Object>> command : COMMANDS) {
            if (!known || command.getKey().equals(named)) {
                line.addSubcommand(command.getKey(), command.getValue().get());
            }
        }
    }

    /** Prints an answer, its notes to standard error. */
    static int show(ProbeAnswer answer, boolean json, CommandSpec spec) throws IOException {
        Shown.onOut(answer.result(), json);
        answer.notes().forEach(note -> Failures.say(spec.commandLine().getErr(), note));
        return answer.found() ? ExitCode.DONE : ExitCode.NEGATIVE;
    }

    @Parameters(hidden = true, arity = "0..*")
    private List<String> unknown = List.of();

    @Override
    public Integer call() {
        if (!unknown.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "no command is called '"
                            + Escape.line(unknown.getFirst())
                            + "'; to set a probe there: sonde probe add "
                            + "'"
                            + Escape.line(unknown.getFirst())
                            + "'");
        }
        throw new ParameterException(
                spec.commandLine(), "one of these is missing: funcs, lines, vars, add, list, del");
    }
}
