package sonde.cli;

import sonde.tools.probe.NamedProbeRecipe;

/** {@code sonde probe list}. */
final class ProbeListCommand {
    static final String MODEL =
            """
            sonde probe list [OPTIONS]

            List the named probes of this kernel, including those of other tools.

            Options:
              --json          print JSON

            Examples:
              sonde probe list

            Exit status:
              0 there are some, 1 there are none
            """;

    private ProbeListCommand() {}

    static int run(CommandCall call) throws Exception {
        return ProbeCommand.show(NamedProbeRecipe.list(), call);
    }
}
