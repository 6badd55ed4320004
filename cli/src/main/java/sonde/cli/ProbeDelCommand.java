package sonde.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.probe.dynamic.NamedProbes;

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

    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    ProbeDelCommand() {}

    @Override
    public Integer call() throws Exception {
        NamedProbes probes = NamedProbes.open();
        PrintWriter out = spec.commandLine().getOut();
        boolean removed = false;
        for (String pattern : patterns) {
            Map<String, Boolean> done = probes.delete(pattern, any);
            for (Map.Entry<String, Boolean> one : done.entrySet()) {
                removed |= one.getValue();
                out.println(
                        one.getKey()
                                + (one.getValue()
                                        ? " removed"
                                        : " left: not made by sonde probe; --any removes it too"));
            }
            if (done.isEmpty()) {
                Failures.say(spec.commandLine().getErr(), "no probe is called " + pattern);
            }
        }
        return removed ? ExitCode.DONE : ExitCode.NEGATIVE;
    }
}
