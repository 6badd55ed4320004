package sonde.tools.bpf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.ProgramType;
import sonde.bpf.feature.BpfFeatures;
import sonde.bpf.feature.FeatureAnswer;
import sonde.bpf.feature.FeatureAnswer.UnknownSupport;
import sonde.bpf.link.KernelTypes;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.tools.report.NothingMatchesException;
import sonde.view.TextEscape;

/**
 * {@code sonde bpf feature}: what this kernel's BPF can do.
 *
 * @param words a kind of answers and a name; none for all
 * @param fresh whether the kernel is asked, and not what was kept of this boot
 */
public record FeatureRecipe(List<String> words, boolean fresh) {
    private static final List<String> BPFTOOL = List.of("probe", "kernel", "full");

    /** bpftool's "probe kernel full" asks for everything. */
    public FeatureRecipe {
        boolean probe = !words.isEmpty() && words.getFirst().equals("probe");
        words = probe ? words.stream().filter(word -> !BPFTOOL.contains(word)).toList() : words;
    }

    /** The answers; that none is meant, the text says and its JSON does not. */
    public Result run() throws IOException {
        boolean kernelFunctions = !words.isEmpty() && words.getFirst().equals("kfunc");
        BpfFeatures features =
                kernelFunctions
                        ? kernelFunctions()
                        : fresh ? BpfFeatures.probe() : BpfFeatures.ofThisBoot(cache());
        return new Document(
                out -> out.value(kernelFunctions ? functions(features) : tree(features)),
                Listing.ofLines(out -> {
                    boolean none = true;
                    for (Map.Entry<String, FeatureAnswer> entry : features.answers().entrySet()) {
                        if (isMeant(entry.getKey())) {
                            none = false;
                            String reason = entry.getValue().reason();
                            String why = reason.isEmpty() ? "" : ": " + TextEscape.line(reason);
                            String word = entry.getValue().word();
                            out.printf("%-12s %s%s%n", word, entry.getKey(), why);
                        }
                    }
                    if (none) {
                        throw new NothingMatchesException(
                                "no answer is called '%s'; 'sonde bpf feature' lists them"
                                        .formatted(String.join(" ", words)));
                    }
                }));
    }

    private boolean isMeant(String name) {
        String prefix = String.join(" ", words);
        boolean several = words.size() > 3 && words.getFirst().equals("kfunc");
        return several || prefix.isEmpty()
                ? !name.startsWith("helper ")
                : name.equals(prefix)
                        || name.startsWith(prefix + " ")
                        || name.endsWith(" " + prefix);
    }

    private BpfFeatures kernelFunctions() throws IOException {
        if (words.size() < 2) {
            throw new BpfUseException("say a type of program: kfunc xdp, kfunc tracing");
        }
        ProgramType type = VerifyRecipe.programType(words.get(1));
        if (words.size() > 2) {
            try (KernelTypes types = KernelTypes.open()) {
                return BpfFeatures.kernelFunctions(type, words.subList(2, words.size()), types);
            }
        }
        BpfFeatures features = BpfFeatures.kernelFunctions(type, fresh ? null : cache());
        if (features.answers().isEmpty()) {
            throw new NothingMatchesException(
                    "this kernel's BTF does not say which of its functions programs may call"
                            + " (Linux 6.10); one that is named can be asked for: kfunc "
                            + type.kernelName()
                            + " NAME");
        }
        return features;
    }

    private static Map<String, @Nullable Object> functions(BpfFeatures features) {
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
    private static Map<String, Object> tree(BpfFeatures features) {
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
            Map<String, FeatureAnswer> answers, String before, String after) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        answers.forEach((name, answer) -> all.put(before + name + after, state(answer)));
        return all;
    }

    private static @Nullable Boolean state(FeatureAnswer answer) {
        return switch (answer) {
            case FeatureAnswer.Yes _ -> true;
            case FeatureAnswer.No _ -> false;
            case UnknownSupport _ -> null;
        };
    }
}
