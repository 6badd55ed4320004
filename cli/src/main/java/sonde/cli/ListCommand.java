package sonde.cli;

import sonde.tools.list.ListRecipe;
import sonde.tools.list.ListRecipe.ListOutcome;

/** {@code sonde list}. */
final class ListCommand {
    static final String MODEL =
            """
            sonde list [OPTIONS] [PATTERN]

            List the events that 'sonde record -e' accepts.

            Arguments:
              [PATTERN]       a name, a glob, or part of a name (default *)

            Options:
              -v, --verbose   show the fields of each tracepoint with their types
              --json          print JSON

            Old spellings:
              --fields = --verbose

            Examples:
              sonde list                     every event
              sonde list 'sched:*'           the events of a system
              sonde list -v sched_switch     fields with their types

            Exit status:
              0 found, 1 nothing matches
            """;

    private ListCommand() {}

    static int run(CommandCall call) throws Exception {
        String pattern = call.given().words().stream().findFirst().orElse("*");
        ListOutcome outcome = new ListRecipe().list(pattern, call.has("--verbose"));
        if (outcome.found() || call.json()) {
            ResultPrinter.onOut(outcome.result(), call.json());
        } else {
            call.say(outcome.result().notes());
        }
        return outcome.found() ? ExitCode.DONE : ExitCode.NEGATIVE;
    }
}
