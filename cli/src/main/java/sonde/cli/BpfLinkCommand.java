package sonde.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.Link;
import sonde.bpf.inventory.Holders;
import sonde.bpf.inventory.Inventory;

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
        CommandLine line = spec.commandLine();
        String action = BpfActions.check(words, ACTIONS, line).getFirst();
        List<String> rest = words.subList(1, words.size());
        if (rest.isEmpty() && (action.equals("list") || action.equals("show"))) {
            return BpfRows.list(
                    "links",
                    new Inventory(Holders.now()).links(),
                    List.of("id", "type", "prog_id"),
                    json,
                    line.getOut());
        }
        try (Link link = BpfTarget.of(rest, line).link(line)) {
            switch (action) {
                case "detach" -> {
                    link.detach();
                    return ExitCode.DONE;
                }
                case "pin" -> {
                    return BpfPins.pin(rest, link.fd(), line);
                }
                default -> {
                    return BpfRows.show(
                            new Inventory(Holders.now()).link(link), json, line.getOut());
                }
            }
        }
    }
}
