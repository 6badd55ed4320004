package sonde.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.Program;
import sonde.bpf.inventory.Holders;
import sonde.bpf.inventory.Inventory;

/** {@code sonde bpf prog}. */
@Command(
        addMethodSubcommands = false,
        name = "prog",
        mixinStandardHelpOptions = true,
        description = "Lists programs, or shows some.",
        footer = {
            "",
            "Examples:",
            "  sonde bpf prog list",
            "  sonde bpf prog show name sonde_count --json"
        })
final class BpfProgCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "list|show",
            description = "then: id NUMBER, name NAME, tag TAG, or pinned PATH")
    private List<String> words;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfProgCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        Inventory inventory = new Inventory(Holders.now());
        var line = spec.commandLine();
        boolean all = BpfActions.check(words, List.of("list", "show"), line).size() == 1;
        List<Map<String, Object>> rows = new ArrayList<>();
        if (all) {
            rows = inventory.programs();
        } else {
            for (Program program : BpfTarget.of(words.subList(1, words.size()), line).programs()) {
                try (program) {
                    rows.add(inventory.program(program));
                }
            }
        }
        return !all && rows.size() == 1
                ? BpfRows.show(rows.getFirst(), json, line.getOut())
                : BpfRows.list(
                        "programs",
                        rows,
                        List.of("id", "type", "name", "tag", "bytes_xlated"),
                        json,
                        line.getOut());
    }
}
