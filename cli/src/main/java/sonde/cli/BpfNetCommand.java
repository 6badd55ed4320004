package sonde.cli;

import java.util.List;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.option.OptionException;

/** {@code sonde bpf net}. */
final class BpfNetCommand {
    static final String MODEL =
            """
            sonde bpf net [OPTIONS] list [dev NAME]

            List the programs of network devices: xdp, tc, tcx, netkit. Programs are attached by
            'sonde bpf attach OBJECT --dev DEVICE'; 'sonde bpf cgroup' lists those of cgroups,
            'sonde bpf link' all that have a link.

            Arguments:
              ACTION          list
              [WHAT...]       dev NAME

            Options:
              --json          print JSON with the keys of bpftool

            Examples:
              sonde bpf net list
              sonde bpf net list dev eth0 --json
            """;

    private BpfNetCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        BpfActions.check(words, List.of("list", "show"));
        boolean chosen = words.size() == 3 && words.get(1).equals("dev");
        if (words.size() > 1 && !chosen) {
            throw new OptionException("after list: dev NAME, or nothing");
        }
        return ResultPrinter.onOut(
                InventoryRecipe.network(chosen ? words.get(2) : ""), call.json());
    }
}
