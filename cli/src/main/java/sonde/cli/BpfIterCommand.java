package sonde.cli;

import java.util.List;
import java.util.Optional;
import sonde.tools.bpf.IteratorRecipe;

/** {@code sonde bpf iter}. */
final class BpfIterCommand {
    static final String MODEL =
            """
            sonde bpf iter [OPTIONS] list|run|pin [OBJECT|KIND FILE] [PATH]

            List, run and pin BPF iterators. An iterator is a program that the kernel runs for each
            object of a kind. A pinned one is a file that runs it when it is read.

            Arguments:
              ACTION          list, run or pin
              [WHAT...]       OBJECT with such a program, or KIND and FILE with the program's text;
                              pin takes PATH after that

            Options:
              --map-id ID     iterate over this map
              --only PROGRAM  run this program of an object with several iterators (repeatable)
              --json          print JSON

            Old spellings:
              --map = --map-id

            Examples:
              sonde bpf iter list
              sonde bpf iter run tasks.bpf.o
              sonde bpf iter pin tasks.bpf.o /sys/fs/bpf/tasks         then: cat /sys/fs/bpf/tasks
              sonde bpf iter run task tasks.asm
              sonde bpf iter pin task tasks.asm /sys/fs/bpf/tasks
            """;

    private BpfIterCommand() {}

    static int run(CommandCall call) throws Exception {
        List<String> words = call.given().words();
        int map = (int) call.given().number("--map-id").orElse(-1);
        String only = call.given().text("--only");
        List<String> actions = List.of("list", "run", "pin");
        String action = BpfActions.check(words, actions).getFirst();
        if (action.equals("list")) {
            return ResultPrinter.onOut(IteratorRecipe.kinds(), call.json());
        }
        String path = action.equals("pin") ? words.getLast() : "";
        List<String> rest = words.subList(1, words.size() - (path.isEmpty() ? 0 : 1));
        Optional<byte[]> text = new IteratorRecipe(rest, map, only, path).run();
        if (text.isPresent()) {
            ResultPrinter.bytes(text.get());
        }
        return ExitCode.DONE;
    }
}
