package sonde.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.tools.probe.NamedProbeRecipe;

/** {@code sonde probe del}. */
@Command(
        addMethodSubcommands = false,
        name = "del",
        mixinStandardHelpOptions = true,
        description = "Removes named probes that 'sonde probe add' made.",
        footer = {
            "",
            "Examples:",
            "  sonde probe del start_dl_timer_L16",
            "  sonde probe del 'probe_server:*'",
            "  sonde probe del '*'",
            "",
            "Exit status: 0 removed, 1 nothing matches."
        })
final class ProbeDelCommand implements Callable<Integer> {
    @Parameters(arity = "1..*", paramLabel = "PATTERN", description = "[GROUP:]NAME, or a glob")
    private List<String> patterns = List.of();

    @Option(names = "--any", description = "those that other tools made, too")
    private boolean any;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeDelCommand() {}

    @Override
    public Integer call() throws Exception {
        return ProbeCommand.show(NamedProbeRecipe.delete(patterns, any), json, spec);
    }
}
