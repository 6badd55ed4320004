package sonde.cli;

import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.ProbedObject;
import sonde.tools.probe.SourceProbeRecipe;

/** {@code sonde probe vars}. */
final class ProbeVarsCommand {
    static final String MODEL =
            """
            sonde probe vars [OPTIONS] FUNCTION[:LINE]|FILE:LINE

            List the variables that a probe can read at a place, with their types and locations.

            Arguments:
              PLACE           FUNCTION, FUNCTION:LINE or FILE:LINE
            """
                    + ProbeTarget.MODEL
                    + """

                    Options:
                      --json          print JSON

                    Examples:
                      sonde probe vars start_dl_timer:16
                      sonde probe vars -x ./server server.c:107
                    """;

    private ProbeVarsCommand() {}

    static int run(CommandCall call) throws Exception {
        String place = call.given().words().getFirst();
        try (ProbedObject subject = ProbeTarget.open(call, PointSpec.module(place))) {
            return ProbeCommand.show(SourceProbeRecipe.variables(subject, place), call);
        }
    }
}
