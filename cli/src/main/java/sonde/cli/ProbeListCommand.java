package sonde.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sonde.tools.probe.NamedProbeRecipe;

/** {@code sonde probe list}. */
@Command(
        addMethodSubcommands = false,
        name = "list",
        mixinStandardHelpOptions = true,
        description = "Lists the named probes of this kernel, those of other tools too.",
        footer = {
            "",
            "Examples:",
            "  sonde probe list",
            "  sonde probe list --json",
            "",
            "Exit status: 0 there are some, 1 there are none."
        })
final class ProbeListCommand implements Callable<Integer> {
    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeListCommand() {}

    @Override
    public Integer call() throws Exception {
        return ProbeCommand.show(NamedProbeRecipe.list(), json, spec);
    }
}
