package sonde.cli;

import java.util.List;
import sonde.bpf.Link;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.ObjectName;

/** {@code sonde bpf link}. */
final class BpfLinkCommand {
    static final String MODEL =
            """
            sonde bpf link [OPTIONS] list|show|detach|pin [LINK] [PATH]

            List links (attachments); show, detach or pin one. Detaching works whoever holds the
            link (Linux 5.9; xdp, tcx, cgroup, netns and struct_ops links).

            Arguments:
              ACTION          list, show, detach or pin
              [LINK...]       id NUMBER, or pinned PATH; pin takes the new path after that

            Options:
              --json          print JSON with the keys of bpftool

            Examples:
              sonde bpf link list
              sonde bpf link show id 7
              sonde bpf link detach id 7
              sonde bpf link pin id 7 /sys/fs/bpf/mine
            """;

    private static final List<String> ACTIONS = List.of("list", "show", "detach", "pin");

    private BpfLinkCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        String action = BpfActions.check(words, ACTIONS).getFirst();
        List<String> rest = words.subList(1, words.size());
        if (rest.isEmpty() && (action.equals("list") || action.equals("show"))) {
            return ResultPrinter.onOut(InventoryRecipe.links(), call.json());
        }
        try (Link link = ObjectName.of(rest).link()) {
            switch (action) {
                case "detach" -> link.detach();
                case "pin" -> ObjectName.pin(rest, link.fd());
                default -> ResultPrinter.onOut(InventoryRecipe.link(link), call.json());
            }
        }
        return ExitCode.DONE;
    }
}
