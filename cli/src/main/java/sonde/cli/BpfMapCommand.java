package sonde.cli;

import java.io.IOException;
import java.util.List;
import sonde.bpf.BpfMap;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.MapCreation;
import sonde.tools.bpf.MapRecipe;
import sonde.tools.bpf.ObjectName;

/** {@code sonde bpf map}. */
final class BpfMapCommand {
    static final String MODEL =
            """
            sonde bpf map [OPTIONS] ACTION [MAP] [WHAT...]

            List maps; create, show, dump, change or watch one.

            Arguments:
              ACTION          list show dump lookup getnext update delete push pop enqueue dequeue
                              peek freeze pin create watch
              [WHAT...]       id NUMBER, name NAME, or pinned PATH; then what is to be put

            Options:
              --interval TIME
                              watch prints the map this often (default 1s)
              --limit N       end watch after N times
              --json          print JSON with the keys of bpftool

            Actions:
              'create PATH type TYPE key SIZE value SIZE entries N name NAME [flags N]' pins what it
              creates; 'update' may end in any, noexist or exist

            Keys and values:
              Bytes are written 0x2a 0 0 0, after 'hex' 2a 00 00 00, or as one number when the key
              or value has 1, 2, 4 or 8 bytes

            Old spellings:
              --count = --limit

            Examples:
              sonde bpf map list
              sonde bpf map dump name counts
              sonde bpf map update id 5 key 7 value 42
              sonde bpf map lookup id 5 key 7
              sonde bpf map create /sys/fs/bpf/seen type hash key 4 value 8 entries 64 name seen
              sonde bpf map push pinned /sys/fs/bpf/queue value 42
              sonde bpf map delete id 5 key hex 07 00 00 00
              sonde bpf map watch name counts --interval 1s
            """;

    private static final List<String> ACTIONS =
            List.of(
                    "list", "show", "dump", "lookup", "getnext", "update", "delete", "push", "pop",
                    "enqueue", "dequeue", "peek", "freeze", "pin", "create", "watch");

    private BpfMapCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        String action = BpfActions.check(words, ACTIONS).getFirst();
        if (words.size() == 1 && (action.equals("list") || action.equals("show"))) {
            return ResultPrinter.onOut(InventoryRecipe.maps(), call.json());
        }
        List<String> rest = words.subList(1, words.size());
        if (action.equals("create")) {
            MapCreation.run(rest);
            return ExitCode.DONE;
        }
        try (BpfMap map = ObjectName.of(rest).map()) {
            return act(call, action, map, new MapRecipe(map, rest.subList(2, rest.size())));
        }
    }

    private static int act(CommandCall call, String action, BpfMap map, MapRecipe recipe)
            throws IOException {
        switch (action) {
            case "dump" -> ResultPrinter.onOut(recipe.dump(), call.json());
            case "update", "push", "enqueue" -> recipe.update();
            case "lookup" -> {
                return ResultPrinter.onOutIfAny(recipe.lookup(), call.json(), ExitCode.NEGATIVE);
            }
            case "peek" -> {
                return ResultPrinter.onOutIfAny(recipe.peek(), call.json(), ExitCode.NEGATIVE);
            }
            case "pop", "dequeue" -> {
                return ResultPrinter.onOutIfAny(recipe.take(), call.json(), ExitCode.NEGATIVE);
            }
            case "getnext" -> {
                return ResultPrinter.onOutIfAny(recipe.next(), call.json(), ExitCode.NEGATIVE);
            }
            case "delete" -> {
                return recipe.delete() ? ExitCode.DONE : ExitCode.NEGATIVE;
            }
            case "freeze" -> map.freeze();
            case "pin" ->
                    ObjectName.pin(
                            call.given().words().subList(1, call.given().words().size()), map.fd());
            case "watch" -> {
                long nanos = call.given().nanos("--interval").orElseThrow();
                int count = (int) call.given().number("--limit").orElse(0);
                ResultPrinter.onOut(recipe.watch(nanos, count), call.json());
            }
            default -> ResultPrinter.onOut(InventoryRecipe.map(map), call.json());
        }
        return ExitCode.DONE;
    }
}
