package sonde.cli;

import sonde.probe.dynamic.ProbedObject;
import sonde.tools.probe.SourceProbeRecipe;

/** {@code sonde probe funcs}. */
final class ProbeFuncsCommand {
    static final String MODEL =
            """
            sonde probe funcs [OPTIONS] [PATTERN]

            List functions that can be probed.

            Arguments:
              [PATTERN]       a name or a glob (default *)
            """
                    + ProbeTarget.MODEL
                    + """

                    Options:
                      --json          print JSON

                    Examples:
                      sonde probe funcs 'start_dl_*'
                      sonde probe funcs -x bash 'read*'

                    Exit status:
                      0 found, 1 nothing matches
                    """;

    private ProbeFuncsCommand() {}

    static int run(CommandCall call) throws Exception {
        String pattern = call.given().words().stream().findFirst().orElse("*");
        try (ProbedObject subject = ProbeTarget.open(call)) {
            return ProbeCommand.show(SourceProbeRecipe.functions(subject, pattern), call);
        }
    }
}
