package sonde.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.tools.bpf.InventoryRecipe;

/** {@code sonde bpf net}. */
@Command(
        addMethodSubcommands = false,
        name = "net",
        mixinStandardHelpOptions = true,
        description = "Lists the programs of network devices: xdp, tc, tcx, netkit.",
        footer = {
            "",
            "Programs are attached by 'sonde bpf attach OBJECT --dev DEVICE'; 'sonde bpf cgroup'",
            "lists those of cgroups, 'sonde bpf link' all that have a link.",
            "",
            "Examples:",
            "  sonde bpf net list",
            "  sonde bpf net list dev eth0 --json"
        })
final class BpfNetCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "list", description = "then perhaps: dev NAME")
    private List<String> words;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfNetCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        BpfActions.check(words, List.of("list", "show"), line);
        boolean chosen = words.size() == 3 && words.get(1).equals("dev");
        if (words.size() > 1 && !chosen) {
            throw new ParameterException(line, "after list: dev NAME, or nothing");
        }
        return Shown.onOut(InventoryRecipe.network(chosen ? words.get(2) : ""), json);
    }
}
