package sonde.cli;

import java.nio.file.Path;
import java.util.ArrayList;
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

/** {@code sonde bpf cgroup}. */
@Command(
        addMethodSubcommands = false,
        name = "cgroup",
        mixinStandardHelpOptions = true,
        description = "Lists the programs of a cgroup, or of all cgroups below a folder.",
        footer = {
            "",
            "'effective' tells what runs for a cgroup, those of the cgroups above it too.",
            "Programs are attached by 'sonde bpf attach OBJECT --cgroup DIR'.",
            "",
            "Examples:",
            "  sonde bpf cgroup tree",
            "  sonde bpf cgroup list /sys/fs/cgroup/system.slice effective",
            "",
            "Exit status: 0 done, 1 there is no cgroup2 here, 3 this kernel or user cannot."
        })
final class BpfCgroupCommand implements Callable<Integer> {
    private static final List<String> ACTIONS = List.of("list", "show", "tree");

    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "list|tree",
            description = "then the cgroup's folder (of tree: where to begin), and 'effective'")
    private List<String> words;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfCgroupCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        String action = BpfActions.check(words, ACTIONS, line).getFirst();
        List<String> rest = new ArrayList<>(words.subList(1, words.size()));
        boolean effective = !rest.isEmpty() && rest.getLast().equals("effective");
        if (effective) {
            rest.removeLast();
        }
        if (rest.size() > 1) {
            throw new ParameterException(line, "one folder, not " + rest);
        }
        if (action.equals("tree")) {
            Path root = rest.isEmpty() ? null : Path.of(rest.getFirst());
            return Shown.onOut(InventoryRecipe.cgroups(root, effective), json);
        }
        if (rest.isEmpty()) {
            throw new ParameterException(line, "say which cgroup: its folder");
        }
        return Shown.onOut(InventoryRecipe.cgroup(Path.of(rest.getFirst()), effective), json);
    }
}
