package sonde.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
import sonde.bpf.inventory.Holders;
import sonde.bpf.inventory.Inventory;
import sonde.view.Escape;

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
            case "list" -> {
                return list(line.getOut());
            }
            case "remove" -> {
                if (rest.isEmpty()) {
                    throw new ParameterException(line, "say which path");
                }
                for (String path : rest) {
                    Pins.remove(path);
                }
                return ExitCode.DONE;
            }
            case "prog" -> {
                List<Program> programs = BpfTarget.of(rest, line).programs();
                try {
                    return BpfPins.pin(rest, programs.getFirst().fd(), line);
                } finally {
                    programs.forEach(Program::close);
                }
            }
            case "map" -> {
                try (BpfMap map = BpfTarget.of(rest, line).map(line)) {
                    return BpfPins.pin(rest, map.fd(), line);
                }
            }
            default -> {
                try (Link link = BpfTarget.of(rest, line).link(line)) {
                    return BpfPins.pin(rest, link.fd(), line);
                }
            }
        }
    }

    private int list(PrintWriter out) throws Exception {
        Inventory inventory = new Inventory(Holders.now());
        List<Map<String, Object>> rows = new ArrayList<>();
        add("prog", inventory.programs(), rows);
        add("map", inventory.maps(), rows);
        add("link", inventory.links(), rows);
        if (json) {
            out.print(BpfJson.of(rows));
        } else {
            for (Map<String, Object> row : rows) {
                out.printf(
                        "%-5s %8s  %s%n",
                        row.get("kind"), row.get("id"), Escape.line("" + row.get("pinned")));
            }
        }
        out.flush();
        return ExitCode.DONE;
    }

    private static void add(
            String kind, List<Map<String, Object>> objects, List<Map<String, Object>> rows) {
        for (Map<String, Object> object : objects) {
            if (object.get("pinned") instanceof List<?> pins) {
                for (Object pin : pins) {
                    Map<String, Object> row = new LinkedHashMap<>();
                    row.put("kind", kind);
                    row.put("id", object.get("id"));
                    row.put("pinned", pin);
                    rows.add(row);
                }
            }
        }
    }
}
