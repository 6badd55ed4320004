package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.ProgramType;
import sonde.bpf.feature.Answer;
import sonde.bpf.feature.Features;
import sonde.bpf.link.KernelTypes;
import sonde.tools.report.NothingMatchesException;

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
    private static final List<String> BPFTOOL = List.of("probe", "kernel", "full");

    @Spec private CommandSpec spec;

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
        words = meant(words);
        boolean kernelFunctions = !words.isEmpty() && words.getFirst().equals("kfunc");
        Features features =
                kernelFunctions
                        ? kernelFunctions()
                        : fresh ? Features.probe() : Features.ofThisBoot(cache());
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.print(BpfJson.of(kernelFunctions ? functions(features) : tree(features)));
            out.flush();
            return ExitCode.DONE;
        }
        String prefix = String.join(" ", words);
        int shown = 0;
        boolean several = kernelFunctions && words.size() > 3;
        for (Map.Entry<String, Answer> entry : features.answers().entrySet()) {
            String name = entry.getKey();
            boolean meant =
                    several || prefix.isEmpty()
                            ? !name.startsWith("helper ")
                            : name.equals(prefix)
                                    || name.startsWith(prefix + " ")
                                    || name.endsWith(" " + prefix);
            if (meant) {
                shown++;
                String reason = entry.getValue().reason();
                out.printf(
                        "%-12s %s%s%n",
                        entry.getValue().word(),
                        name,
                        reason.isEmpty() ? "" : ": " + sonde.view.Escape.line(reason));
            }
        }
        out.flush();
        if (shown == 0) {
            throw new NothingMatchesException(
                    "no answer is called '%s'; 'sonde bpf feature' lists them".formatted(prefix));
        }
        return ExitCode.DONE;
    }

    /** bpftool's "probe kernel full" asks for everything. */
    private static List<String> meant(List<String> words) {
        boolean probe = !words.isEmpty() && words.getFirst().equals("probe");
        return probe ? words.stream().filter(word -> !BPFTOOL.contains(word)).toList() : words;
    }

    private Features kernelFunctions() throws IOException {
        if (words.size() < 2) {
            throw new ParameterException(
                    spec.commandLine(), "say a type of program: kfunc xdp, kfunc tracing");
        }
        ProgramType type = BpfVerifyCommand.programType(words.get(1), spec.commandLine());
        if (words.size() > 2) {
            try (KernelTypes types = KernelTypes.open()) {
                return Features.kernelFunctions(type, words.subList(2, words.size()), types);
            }
        }
        Features features = Features.kernelFunctions(type, fresh ? null : cache());
        if (features.answers().isEmpty()) {
            throw new NothingMatchesException(
                    "this kernel's BTF does not say which of its functions programs may call"
                            + " (Linux 6.10); one that is named can be asked for: kfunc "
                            + type.kernelName()
                            + " NAME");
        }
        return features;
    }

    private static Map<String, @Nullable Object> functions(Features features) {
        Map<String, @Nullable Object> tree = new LinkedHashMap<>();
        features.below("kfunc")
                .forEach((name, answer) ->
                        tree.put(name.substring(name.indexOf(' ') + 1), state(answer)));
        return tree;
    }

    /** As query keeps its index: root's is in no folder that sudo's user may write. */
    private static Path cache() {
        if (Files.isWritable(Path.of("/proc/1/mem"))) {
            return Path.of("/var/cache/sonde");
        }
        String set = System.getenv("XDG_CACHE_HOME");
        Path home = Path.of(System.getProperty("user.home"), ".cache");
        return (set == null || set.isEmpty() ? home : Path.of(set)).resolve("sonde");
    }

    /** bpftool's sections; null where it cannot be told. */
    private static Map<String, Object> tree(Features features) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("program_types", have(features.below("program_type"), "have_", "_prog_type"));
        tree.put("map_types", have(features.below("map_type"), "have_", "_map_type"));
        Map<String, Object> helpers = new LinkedHashMap<>();
        for (ProgramType type : ProgramType.values()) {
            List<String> names = new ArrayList<>();
            features.below("helper " + type.kernelName())
                    .forEach((name, answer) -> {
                        if (answer.isYes()) {
                            names.add(name);
                        }
                    });
            helpers.put(type.kernelName() + "_available_helpers", names);
        }
        tree.put("helpers", helpers);
        tree.put("misc", have(features.below("limit"), "", ""));
        tree.put("attach_types", have(features.below("attach_type"), "have_", "_attach_type"));
        return tree;
    }

    private static Map<String, @Nullable Object> have(
            Map<String, Answer> answers, String before, String after) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        answers.forEach((name, answer) -> all.put(before + name + after, state(answer)));
        return all;
    }

    private static @Nullable Boolean state(Answer answer) {
        return switch (answer) {
            case Answer.Yes _ -> true;
            case Answer.No _ -> false;
            case Answer.Unknown _ -> null;
        };
    }
}
