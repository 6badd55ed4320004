package sonde.cli;

import java.util.List;
import java.util.concurrent.Callable;
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
        description = "Lists links (attachments), or shows one.",
        footer = {"", "Examples:", "  sonde bpf link list", "  sonde bpf link show id 7"})
final class BpfLinkCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "list|show",
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
        Inventory inventory = new Inventory(Holders.now());
        var line = spec.commandLine();
        if (BpfActions.check(words, List.of("list", "show"), line).size() == 1) {
            return BpfRows.list(
                    "links",
                    inventory.links(),
                    List.of("id", "type", "prog_id"),
                    json,
                    line.getOut());
        }
        try (Link link = BpfTarget.of(words.subList(1, words.size()), line).link(line)) {
            return BpfRows.show(inventory.link(link), json, line.getOut());
        }
    }
}
