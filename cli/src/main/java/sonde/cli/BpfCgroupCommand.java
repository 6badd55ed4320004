package sonde.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.option.OptionException;

/** {@code sonde bpf cgroup}. */
final class BpfCgroupCommand {
    static final String MODEL =
            """
            sonde bpf cgroup [OPTIONS] list|tree [DIR] [effective]

            List the programs of a cgroup, or of all cgroups below a folder. With 'effective' it
            lists what runs for a cgroup, including the programs of the cgroups above it. Programs
            are attached by 'sonde bpf attach OBJECT --cgroup DIR'.

            Arguments:
              ACTION          list or tree
              [WHAT...]       the cgroup's folder (tree begins there), then 'effective'

            Options:
              --json          print JSON with the keys of bpftool

            Examples:
              sonde bpf cgroup tree
              sonde bpf cgroup list /sys/fs/cgroup/system.slice effective

            Exit status:
              0 done, 1 there is no cgroup2 here, 3 this kernel or user cannot
            """;

    private static final List<String> ACTIONS = List.of("list", "show", "tree");

    private BpfCgroupCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        String action = BpfActions.check(words, ACTIONS).getFirst();
        List<String> rest = new ArrayList<>(words.subList(1, words.size()));
        boolean effective = !rest.isEmpty() && rest.getLast().equals("effective");
        if (effective) {
            rest.removeLast();
        }
        if (rest.size() > 1) {
            throw new OptionException("one folder, not " + rest);
        }
        if (action.equals("tree")) {
            Path root = rest.isEmpty() ? null : Path.of(rest.getFirst());
            return ResultPrinter.onOut(InventoryRecipe.cgroups(root, effective), call.json());
        }
        if (rest.isEmpty()) {
            throw new OptionException("say which cgroup: its folder");
        }
        return ResultPrinter.onOut(
                InventoryRecipe.cgroup(Path.of(rest.getFirst()), effective), call.json());
    }
}
