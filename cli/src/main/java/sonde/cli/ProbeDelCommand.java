package sonde.cli;

import sonde.tools.probe.NamedProbeRecipe;

/** {@code sonde probe del}. */
final class ProbeDelCommand {
    static final String MODEL =
            """
            sonde probe del [OPTIONS] PATTERN...

            Remove named probes that 'sonde probe add' set.

            Arguments:
              PATTERN...      [GROUP:]NAME, or a glob

            Options:
              --any           also remove probes that other tools set
              --json          print JSON

            Examples:
              sonde probe del start_dl_timer_L16
              sonde probe del 'probe_server:*'
              sonde probe del '*'

            Exit status:
              0 removed, 1 nothing matches
            """;

    private ProbeDelCommand() {}

    static int run(CommandCall call) throws Exception {
        return ProbeCommand.show(
                NamedProbeRecipe.delete(call.given().words(), call.has("--any")), call);
    }
}
