package sonde.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.tools.bpf.InventoryRecipe;
import sonde.tools.bpf.TypeRecipe;

/** {@code sonde bpf btf}. */
@Command(
        name = "btf",
        mixinStandardHelpOptions = true,
        description = "Lists BTF objects, or dumps types: of the kernel, a file, a program, a map.",
        footer = {
            "",
            "dump takes: id NUMBER | file PATH | prog id NUMBER | map id NUMBER [key|value] | name",
            "NAME, a type of the running kernel with its offsets; then 'format raw' (usual), or 'format"
                    + " c'; 'root_id N' for one type and what it needs; 'member NAME' behind name.",
            "",
            "Examples:",
            "  sonde bpf btf list",
            "  sonde bpf btf dump name task_struct                 members, offsets, sizes",
            "  sonde bpf btf dump name task_struct member pid",
            "  sonde bpf btf dump file /sys/kernel/btf/vmlinux format c > vmlinux.h",
            "  sonde bpf btf dump prog id 12",
            "  sonde bpf btf dump map name counts value format c"
        })
final class BpfBtfCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "list|dump", description = "then what, see below")
    private List<String> words;

    @Option(
            names = {"-B", "--base-btf"},
            paramLabel = "FILE",
            description = "BTF that a split one refers to; for modules it is vmlinux")
    private @Nullable Path base;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfBtfCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws Exception {
        List<String> actions = List.of("list", "show", "dump");
        String action = BpfActions.check(words, actions, spec.commandLine()).getFirst();
        if (!action.equals("dump")) {
            return Shown.onOut(InventoryRecipe.types(), json);
        }
        return Shown.onOut(new TypeRecipe(words.subList(1, words.size()), base).run(), json);
    }
}
