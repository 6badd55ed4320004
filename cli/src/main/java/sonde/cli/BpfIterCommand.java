package sonde.cli;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.tools.bpf.IteratorRecipe;

/** {@code sonde bpf iter}. */
@Command(
        name = "iter",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the kinds of objects that this kernel lets programs go through; runs such a"
                    + " program, or pins it as a file that runs it when it is read."
        },
        footer = {
            "",
            "run and pin take an object with such a program, or the kind and the program's text;",
            "--map for iterators over a map.",
            "",
            "Examples:",
            "  sonde bpf iter list",
            "  sonde bpf iter run tasks.bpf.o",
            "  sonde bpf iter pin tasks.bpf.o /sys/fs/bpf/tasks         then: cat /sys/fs/bpf/tasks",
            "  sonde bpf iter run task tasks.asm",
            "  sonde bpf iter pin task tasks.asm /sys/fs/bpf/tasks"
        })
final class BpfIterCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "list|run|pin",
            description = "then OBJECT [PATH], or KIND FILE [PATH]")
    private List<String> words;

    @Option(names = "--map", paramLabel = "ID", description = "the map it goes through")
    private int map = -1;

    @Option(
            names = "--only",
            paramLabel = "PROGRAM",
            description = "this program of an object with several iterators")
    private @Nullable String only;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfIterCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        List<String> actions = List.of("list", "run", "pin");
        String action = BpfActions.check(words, actions, spec.commandLine()).getFirst();
        if (action.equals("list")) {
            return Shown.onOut(IteratorRecipe.kinds(), json);
        }
        String path = action.equals("pin") ? words.getLast() : "";
        List<String> rest = words.subList(1, words.size() - (path.isEmpty() ? 0 : 1));
        Optional<byte[]> text = new IteratorRecipe(rest, map, only, path).run();
        if (text.isPresent()) {
            Shown.bytes(text.get());
        }
        return ExitCode.DONE;
    }
}
