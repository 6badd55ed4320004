package sonde.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.BpfMap;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.MapCreation;
import sonde.tools.bpf.MapRecipe;
import sonde.tools.bpf.ObjectName;

/** {@code sonde bpf map}. */
@Command(
        addMethodSubcommands = false,
        name = "map",
        mixinStandardHelpOptions = true,
        description = "Lists maps; makes, shows, dumps, changes or watches one.",
        footer = {
            "",
            "Actions: list show dump lookup getnext update delete push pop enqueue dequeue peek",
            "freeze pin create watch. 'create PATH type TYPE key SIZE value SIZE entries N name",
            "NAME [flags N]' pins what it makes; 'update' may end in any, noexist or exist.",
            "",
            "Bytes of keys and values are written 0x2a 0 0 0, after 'hex' 2a 00 00 00, or as one",
            "number when the key or value has 1, 2, 4 or 8 bytes.",
            "",
            "Examples:",
            "  sonde bpf map list",
            "  sonde bpf map dump name counts",
            "  sonde bpf map update id 5 key 7 value 42",
            "  sonde bpf map lookup id 5 key 7",
            "  sonde bpf map create /sys/fs/bpf/seen type hash key 4 value 8 entries 64 name seen",
            "  sonde bpf map push pinned /sys/fs/bpf/queue value 42",
            "  sonde bpf map delete id 5 key hex 07 00 00 00",
            "  sonde bpf map watch name counts --interval 1s"
        })
final class BpfMapCommand implements Callable<Integer> {
    private static final List<String> ACTIONS =
            List.of(
                    "list", "show", "dump", "lookup", "getnext", "update", "delete", "push", "pop",
                    "enqueue", "dequeue", "peek", "freeze", "pin", "create", "watch");

    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "ACTION",
            description = "then: id NUMBER, name NAME, or pinned PATH; then what is to be put")
    private List<String> words;

    @Option(names = "--interval", defaultValue = "1s", description = "between two looks of watch")
    private String interval;

    @Option(names = "--count", defaultValue = "0", description = "end watch after so many looks")
    private int count;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfMapCommand() {
        words = List.of();
        interval = "1s";
    }

    @Override
    public Integer call() throws Exception {
        CommandLine line = spec.commandLine();
        String action = BpfActions.check(words, ACTIONS, line).getFirst();
        if (words.size() == 1 && (action.equals("list") || action.equals("show"))) {
            return Shown.onOut(InventoryRecipe.maps(), json);
        }
        List<String> rest = words.subList(1, words.size());
        if (action.equals("create")) {
            MapCreation.run(rest);
            return ExitCode.DONE;
        }
        try (BpfMap map = ObjectName.of(rest).map()) {
            return act(action, map, new MapRecipe(map, rest.subList(2, rest.size())));
        }
    }

    private int act(String action, BpfMap map, MapRecipe recipe) throws IOException {
        switch (action) {
            case "dump" -> Shown.onOut(recipe.dump(), json);
            case "update", "push", "enqueue" -> recipe.update();
            case "lookup" -> {
                return Shown.onOutIfAny(recipe.lookup(), json, ExitCode.NEGATIVE);
            }
            case "peek" -> {
                return Shown.onOutIfAny(recipe.peek(), json, ExitCode.NEGATIVE);
            }
            case "pop", "dequeue" -> {
                return Shown.onOutIfAny(recipe.take(), json, ExitCode.NEGATIVE);
            }
            case "getnext" -> {
                return Shown.onOutIfAny(recipe.next(), json, ExitCode.NEGATIVE);
            }
            case "delete" -> {
                return recipe.delete() ? ExitCode.DONE : ExitCode.NEGATIVE;
            }
            case "freeze" -> map.freeze();
            case "pin" -> ObjectName.pin(words.subList(1, words.size()), map.fd());
            case "watch" -> {
                long nanos = Durations.nanos(interval, spec.commandLine());
                Shown.onOut(recipe.watch(nanos, count), json);
            }
            default -> Shown.onOut(InventoryRecipe.map(map), json);
        }
        return ExitCode.DONE;
    }
}
