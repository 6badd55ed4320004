package sonde.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.probe.dynamic.Subject;
import sonde.tools.probe.SourceProbeRecipe;

/** {@code sonde probe funcs}. */
@Command(
        addMethodSubcommands = false,
        name = "funcs",
        mixinStandardHelpOptions = true,
        description = "Lists functions that can be probed.",
        footer = {
            "",
            "Examples:",
            "  sonde probe funcs 'start_dl_*'",
            "  sonde probe funcs -x bash 'read*'",
            "",
            "Exit status: 0 found, 1 nothing matches."
        })
final class ProbeFuncsCommand implements Callable<Integer> {
    @Mixin private ProbeTarget target = new ProbeTarget();

    @Parameters(
            arity = "0..1",
            defaultValue = "*",
            paramLabel = "PATTERN",
            description = "a name or a glob")
    private String pattern = "*";

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeFuncsCommand() {}

    @Override
    public Integer call() throws Exception {
        try (Subject subject = target.open()) {
            return ProbeCommand.show(SourceProbeRecipe.functions(subject, pattern), json, spec);
        }
    }
}
