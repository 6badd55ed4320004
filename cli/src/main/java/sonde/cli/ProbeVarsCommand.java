package sonde.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.probe.dynamic.PointSpec;
import sonde.probe.dynamic.Subject;
import sonde.tools.probe.SourceProbeRecipe;

/** {@code sonde probe vars}. */
@Command(
        addMethodSubcommands = false,
        name = "vars",
        mixinStandardHelpOptions = true,
        description = "Lists the variables that a probe can see, with types and where they are.",
        footer = {
            "",
            "Examples:",
            "  sonde probe vars start_dl_timer:16",
            "  sonde probe vars -x ./server server.c:107"
        })
final class ProbeVarsCommand implements Callable<Integer> {
    @Mixin private ProbeTarget target = new ProbeTarget();

    @Parameters(paramLabel = "FUNCTION[:LINE]|FILE:LINE", description = "where")
    private String place = "";

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeVarsCommand() {}

    @Override
    public Integer call() throws Exception {
        try (Subject subject = target.open(PointSpec.module(place))) {
            return ProbeCommand.show(SourceProbeRecipe.variables(subject, place), json, spec);
        }
    }
}
