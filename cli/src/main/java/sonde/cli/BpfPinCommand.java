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
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.Pins;
import sonde.bpf.Program;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.ObjectName;

/** {@code sonde bpf pin}. */
@Command(
        name = "pin",
        mixinStandardHelpOptions = true,
        description = {
            "Gives programs, maps and links names in a bpffs, by which they outlive their makers;"
                    + " lists and removes such names."
        },
        footer = {
            "",
            "Examples:",
            "  sonde bpf pin prog id 12 /sys/fs/bpf/filter",
            "  sonde bpf pin map name counts /sys/fs/bpf/counts",
            "  sonde bpf pin list",
            "  sonde bpf pin remove /sys/fs/bpf/filter"
        })
final class BpfPinCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "prog|map|link|list|remove",
            description = "then: id NUMBER, name NAME or pinned PATH, and the new path")
    private List<String> words;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfPinCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        List<String> actions = List.of("prog", "map", "link", "list", "remove");
        String action = BpfActions.check(words, actions, line).getFirst();
        List<String> rest = words.subList(1, words.size());
        switch (action) {
            case "list" -> Shown.onOut(InventoryRecipe.pins(), json);
            case "remove" -> {
                if (rest.isEmpty()) {
                    throw new ParameterException(line, "say which path");
                }
                for (String path : rest) {
                    Pins.remove(path);
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
