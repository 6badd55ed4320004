package sonde.cli;

import java.util.List;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.PinNames;
import sonde.bpf.Program;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.ObjectName;
import sonde.tools.option.OptionException;

/** {@code sonde bpf pin}. */
final class BpfPinCommand {
    static final String MODEL =
            """
            sonde bpf pin [OPTIONS] prog|map|link|list|remove [OBJECT] [PATH...]

            Pin programs, maps and links in a bpffs, list and remove pins. A pinned object outlives
            the process that made it.

            Arguments:
              ACTION          prog, map, link, list or remove
              [WHAT...]       id NUMBER, name NAME or pinned PATH, and the new path

            Options:
              --json          print JSON

            Examples:
              sonde bpf pin prog id 12 /sys/fs/bpf/filter
              sonde bpf pin map name counts /sys/fs/bpf/counts
              sonde bpf pin list
              sonde bpf pin remove /sys/fs/bpf/filter
            """;

    private BpfPinCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        List<String> actions = List.of("prog", "map", "link", "list", "remove");
        String action = BpfActions.check(words, actions).getFirst();
        List<String> rest = words.subList(1, words.size());
        switch (action) {
            case "list" -> ResultPrinter.onOut(InventoryRecipe.pins(), call.json());
            case "remove" -> {
                if (rest.isEmpty()) {
                    throw new OptionException("say which path");
                }
                for (String path : rest) {
                    PinNames.remove(path);
                }
            }
            case "prog" -> {
                List<Program> programs = ObjectName.of(rest).programs();
                try {
                    ObjectName.pin(rest, programs.getFirst().fd());
                } finally {
                    programs.forEach(Program::close);
                }
            }
            case "map" -> {
                try (BpfMap map = ObjectName.of(rest).map()) {
                    ObjectName.pin(rest, map.fd());
                }
            }
            default -> {
                try (Link link = ObjectName.of(rest).link()) {
                    ObjectName.pin(rest, link.fd());
                }
            }
        }
        return ExitCode.DONE;
    }
}
