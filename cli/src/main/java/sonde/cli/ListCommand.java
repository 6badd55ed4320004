package sonde.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.tools.list.ListRecipe;

/** {@code sonde list}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        description = "Lists the events that 'record -e' takes.",
        footer = {
            "",
            "Examples:",
            "  sonde list                     every event",
            "  sonde list 'sched:*'           those of a system",
            "  sonde list -v sched_switch     fields with their types",
            "",
            "Exit status: 0 found, 1 nothing matches."
        })
final class ListCommand implements Callable<Integer> {
    @Parameters(
            arity = "0..1",
            defaultValue = "*",
            paramLabel = "PATTERN",
            description = "a name, a glob, or part of a name")
    private String pattern;

    @Option(
            names = {"-v", "--fields"},
            description = "fields of each tracepoint with their types")
    private boolean fields;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    ListCommand() {
        pattern = "*";
        spec = CommandSpec.create();
    }

    @Override
    public Integer call() throws Exception {
        ListRecipe.Outcome outcome = new ListRecipe().list(pattern, fields);
        if (outcome.found() || json) {
            Shown.onOut(outcome.result(), json);
        } else {
            PrintWriter err = spec.commandLine().getErr();
            outcome.result().notes().forEach(note -> Failures.say(err, note));
        }
        return outcome.found() ? ExitCode.DONE : ExitCode.NEGATIVE;
    }
}
