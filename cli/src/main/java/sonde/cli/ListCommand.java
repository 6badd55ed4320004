package sonde.cli;

import sonde.tools.list.ListRecipe;
import sonde.tools.list.ListRecipe.ListOutcome;

/** {@code sonde list}. */
final class ListCommand {
    static final String MODEL =
            """
            sonde list [OPTIONS] [PATTERN]

            List the events that 'sonde record -e' accepts, tracers, or functions of the kernel.

            Arguments:
              [PATTERN]       a name, a glob, or part of a name (default *)

            Options:
              -v, --verbose   show the ID, the fields and the print format of each tracepoint
              --tracers       list the tracers of this kernel
              --functions     list the kernel's functions that tracers see; PATTERN is a glob
              --json          print JSON

            Old spellings:
              --fields = --verbose

            Examples:
              sonde list                     every event
              sonde list 'sched:*'           the events of a system
              sonde list 'probe*'            the probes of 'sonde probe add'
              sonde list -v sched_switch     fields with their types
              sonde list --functions 'vfs_*'

            Exit status:
              0 found, 1 nothing matches
            """;

    private ListCommand() {}

    static int run(CommandCall call) throws Exception {
        String pattern = call.given().words().stream().findFirst().orElse("*");
        ListRecipe recipe = new ListRecipe();
        ListOutcome outcome =
                call.has("--tracers")
                        ? recipe.tracers()
                        : call.has("--functions")
                                ? recipe.functions(pattern)
                                : recipe.list(pattern, call.has("--verbose"));
        if (outcome.found() || call.json()) {
            ResultPrinter.onOut(outcome.result(), call.json());
        } else {
            call.say(outcome.result().notes());
        }
        return outcome.found() ? ExitCode.DONE : ExitCode.NEGATIVE;
    }
}
