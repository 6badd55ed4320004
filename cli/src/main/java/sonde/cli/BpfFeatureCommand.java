package sonde.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import sonde.tools.bpf.FeatureRecipe;

/** {@code sonde bpf feature}. */
@Command(
        addMethodSubcommands = false,
        name = "feature",
        mixinStandardHelpOptions = true,
        description = "Says what this kernel's BPF can do: yes, no, or cannot tell and why.",
        footer = {
            "",
            "Answers are kept until the next boot; --fresh asks again.",
            "",
            "Examples:",
            "  sonde bpf feature              program types, map types, places, limits",
            "  sonde bpf feature helper xdp   the helpers that xdp programs may call",
            "  sonde bpf feature kfunc xdp    the kernel functions that they may call",
            "  sonde bpf feature kfunc tracing bpf_task_acquire",
            "",
            "Exit status: 0 something matches, 1 nothing does."
        })
final class BpfFeatureCommand implements Callable<Integer> {
    @Parameters(
            arity = "0..*",
            paramLabel = "WORD",
            description =
                    "program_type, map_type, attach_type, limit, helper, and a name; kfunc, a type"
                            + " of program and perhaps a name")
    private List<String> words;

    @Option(names = "--fresh", description = "ask the kernel, not what is kept")
    private boolean fresh;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfFeatureCommand() {
        words = List.of();
    }

    @Override
    public Integer call() throws IOException {
        return Shown.onOut(new FeatureRecipe(words, fresh).run(), json);
    }
}
