package sonde.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sonde bpf}. */
@Command(
        mixinStandardHelpOptions = true,
        description = "Shows and changes what BPF this machine has.",
        subcommands = {
            BpfFeatureCommand.class,
            BpfProgCommand.class,
            BpfMapCommand.class,
            BpfLinkCommand.class
        },
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Examples:",
            "  sonde bpf prog list            every program, and who holds it",
            "  sonde bpf map dump name counts what is in a map",
            "  sonde bpf feature              what this kernel can do"
        })
final class BpfCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfCommand() {}

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return ExitCode.USAGE;
    }
}
