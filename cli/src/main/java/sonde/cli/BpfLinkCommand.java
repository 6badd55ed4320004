package sonde.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.Link;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.ObjectName;

/** {@code sonde bpf link}. */
@Command(
        addMethodSubcommands = false,
        name = "link",
        mixinStandardHelpOptions = true,
        description = "Lists links (attachments); shows, detaches or pins one.",
        footer = {
            "",
            "'detach' takes the program off its place, whoever holds the link (Linux 5.9; xdp, tcx,",
            "cgroup, netns and struct_ops links).",
            "",
            "Examples:",
            "  sonde bpf link list",
            "  sonde bpf link show id 7",
            "  sonde bpf link detach id 7",
            "  sonde bpf link pin id 7 /sys/fs/bpf/mine"
        })
final class BpfLinkCommand implements Callable<Integer> {
    private static final List<String> ACTIONS = List.of("list", "show", "detach", "pin");

    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "list|show|detach|pin",
            description = "then: id NUMBER, or pinned PATH")
    private List<String> words;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfLinkCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        String action = BpfActions.check(words, ACTIONS, spec.commandLine()).getFirst();
        List<String> rest = words.subList(1, words.size());
        if (rest.isEmpty() && (action.equals("list") || action.equals("show"))) {
            return Shown.onOut(InventoryRecipe.links(), json);
        }
        try (Link link = ObjectName.of(rest).link()) {
            switch (action) {
                case "detach" -> link.detach();
                case "pin" -> ObjectName.pin(rest, link.fd());
                default -> Shown.onOut(InventoryRecipe.link(link), json);
            }
        }
        return ExitCode.DONE;
    }
}
