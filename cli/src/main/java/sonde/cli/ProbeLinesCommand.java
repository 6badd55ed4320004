package sonde.cli;

import java.nio.file.Path;
import java.util.List;
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

/** {@code sonde probe lines}. */
@Command(
        addMethodSubcommands = false,
        name = "lines",
        mixinStandardHelpOptions = true,
        description = "Shows the source of a function or file; lines with a number take probes.",
        footer = {
            "",
            "Numbers of a function count from its first line, as FUNCTION:LINE does.",
            "",
            "Examples:",
            "  sonde probe lines start_dl_timer",
            "  sonde probe lines -x ./server server.c:100-140",
            "  sonde probe lines --source ~/linux schedule"
        })
final class ProbeLinesCommand implements Callable<Integer> {
    @Mixin private ProbeTarget target = new ProbeTarget();

    @Parameters(paramLabel = "FUNCTION[@FILE]|FILE[:FROM-TO]", description = "what is shown")
    private String what = "";

    @Option(
            names = {"-s", "--source"},
            paramLabel = "FOLDER",
            description = "where the source is, when it is not where it was compiled")
    private List<Path> sources = List.of();

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeLinesCommand() {}

    @Override
    public Integer call() throws Exception {
        try (Subject subject = target.open(PointSpec.module(what))) {
            return ProbeCommand.show(SourceProbeRecipe.lines(subject, what, sources), json, spec);
        }
    }
}
