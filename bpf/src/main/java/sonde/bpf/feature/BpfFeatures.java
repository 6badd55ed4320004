package sonde.bpf.feature;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.AttachType;
import sonde.bpf.MapType;
import sonde.bpf.ProgramType;
import sonde.bpf.call.PrintkEvent;
import sonde.bpf.feature.FeatureAnswer.UnknownSupport;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.link.KernelTypes;

/**
 * All answers of this kernel, by name: {@code "program_type xdp"}, {@code "map_type ringbuf"},
 * {@code "attach_type tcx_ingress"}, {@code "helper xdp bpf_redirect"}, {@code "limit
 * have_bounded_loops"}; apart from them, for one type of program, {@code "kfunc xdp
 * bpf_dynptr_from_xdp"}.
 *
 * <p>A kernel does not change while it runs, so yes and no are kept in a file named by its boot;
 * "cannot tell" is asked again, as it depends on who asks.
 */
public final class BpfFeatures {
    private static final int MOST_LINES = 100_000;
    private static final int LAST_HELPER = 211;

    private final Map<String, FeatureAnswer> answers;

    private BpfFeatures(Map<String, FeatureAnswer> answers) {
        this.answers = answers;
    }

    /** Asks the kernel everything; about 7,000 small programs, a second or so. */
    public static BpfFeatures probe() {
        PrintkEvent.use();
        try {
            return probeAll();
        } finally {
            PrintkEvent.release();
        }
    }

    private static BpfFeatures probeAll() {
        Map<String, FeatureAnswer> answers = new LinkedHashMap<>();
        for (KernelLimit limit : KernelLimit.values()) {
            answers.put("limit " + limit.key(), BpfFeatureProbe.limit(limit));
        }
        for (ProgramType type : ProgramType.values()) {
            answers.put("program_type " + type.kernelName(), BpfFeatureProbe.programType(type));
        }
        for (MapType type : MapType.values()) {
            answers.put("map_type " + type.kernelName(), BpfFeatureProbe.mapType(type));
        }
        for (AttachType place : AttachType.values()) {
            answers.put("attach_type " + place.kernelName(), BpfFeatureProbe.attachType(place));
        }
        for (ProgramType type : ProgramType.values()) {
            if (!(answers.get("program_type " + type.kernelName()) instanceof FeatureAnswer.No)) {
                for (int helper = 1; helper <= LAST_HELPER; helper++) {
                    answers.put(
                            "helper " + type.kernelName() + " " + HelperFunctionId.name(helper),
                            BpfFeatureProbe.helper(type, helper));
                }
            }
        }
        return new BpfFeatures(answers);
    }

    /**
     * The kept answers of this boot, or asks and keeps them. A file that cannot be read or written
     * only costs time.
     *
     * @param folder the user's cache: {@code $XDG_CACHE_HOME/sonde}
     */
    public static BpfFeatures ofThisBoot(Path folder) {
        return kept(folder, "bpf-features", BpfFeatures::probe);
    }

    private static BpfFeatures kept(Path folder, String name, Supplier<BpfFeatures> ask) {
        Path file;
        try {
            String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
            file = folder.resolve(name + "-" + boot.replaceAll("[^0-9a-f-]", ""));
        } catch (IOException e) {
            return ask.get();
        }
        Map<String, FeatureAnswer> kept = read(file);
        if (!kept.isEmpty()) {
            return new BpfFeatures(kept);
        }
        BpfFeatures features = ask.get();
        boolean told = features.answers.values().stream().noneMatch(BpfFeatures::isForWantOfRights);
        if (told && !features.answers.isEmpty()) {
            features.write(file);
        }
        return features;
    }

    /**
     * Which kernel functions programs of a type may call: {@code "kfunc xdp bpf_dynptr_from_xdp"}.
     * Asked are those that the kernel's BTF marks as such (Linux 6.10); none where it marks none.
     *
     * @param folder as of {@link #ofThisBoot}; null asks anew and keeps nothing
     * @throws IOException when the kernel's types cannot be read
     */
    public static BpfFeatures kernelFunctions(ProgramType type, @Nullable Path folder)
            throws IOException {
        Supplier<BpfFeatures> ask =
                () -> {
                    try (KernelTypes types = KernelTypes.open()) {
                        return kernelFunctions(type, names(types.btf()), types);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                };
        try {
            return folder == null
                    ? ask.get()
                    : kept(folder, "bpf-kfuncs-" + type.kernelName(), ask);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Whether programs of a type may call these; asked of the kernel. */
    public static BpfFeatures kernelFunctions(
            ProgramType type, Collection<String> names, KernelTypes types) throws IOException {
        Map<String, FeatureAnswer> answers = new LinkedHashMap<>();
        for (String name : names) {
            answers.put(
                    "kfunc " + type.kernelName() + " " + name,
                    BpfFeatureProbe.kernelFunction(type, name, types));
        }
        return new BpfFeatures(answers);
    }

    /** Functions with the tag that the kernel's build gives them. */
    private static Set<String> names(Btf btf) throws IOException {
        Set<String> names = new TreeSet<>();
        for (int id = btf.firstId(); id < btf.end(); id++) {
            if (btf.type(id) instanceof BtfType.DeclTag tag
                    && tag.name().equals("bpf_kfunc")
                    && btf.type(tag.type()) instanceof BtfType.Func function) {
                names.add(function.name());
            }
        }
        return names;
    }

    private static boolean isForWantOfRights(FeatureAnswer answer) {
        return answer instanceof UnknownSupport unknown && unknown.why().contains("CAP_");
    }

    /**
     * Lines {@code name TAB word TAB reason}; empty when there is no such file, or a broken one.
     */
    static Map<String, FeatureAnswer> read(Path file) {
        Map<String, FeatureAnswer> answers = new LinkedHashMap<>();
        List<String> lines;
        try {
            lines = Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return Map.of();
        }
        if (lines.size() > MOST_LINES || lines.isEmpty() || !lines.getLast().equals("end")) {
            return Map.of();
        }
        for (String line : lines.subList(0, lines.size() - 1)) {
            String[] parts = line.split("\t", 3);
            if (parts.length < 3) {
                return Map.of();
            }
            switch (parts[1]) {
                case "yes" -> answers.put(parts[0], new FeatureAnswer.Yes());
                case "no" -> answers.put(parts[0], new FeatureAnswer.No(parts[2]));
                default -> answers.put(parts[0], new UnknownSupport(parts[2]));
            }
        }
        return answers;
    }

    /** Beside, then renamed: another process sees all or nothing. */
    void write(Path file) {
        List<String> lines = new ArrayList<>();
        answers.forEach((name, answer) ->
                lines.add(
                        name
                                + "\t"
                                + answer.word()
                                + "\t"
                                + answer.reason().replaceAll("\\s", " ")));
        lines.add("end");
        try {
            Path folder = file.toAbsolutePath().getParent();
            if (folder == null) {
                return;
            }
            Files.createDirectories(folder);
            Path draft = Files.createTempFile(folder, "features", ".draft");
            Files.write(draft, lines);
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            // Asked again next time.
        }
    }

    /** Every answer by its name, in order. */
    public Map<String, FeatureAnswer> answers() {
        return java.util.Collections.unmodifiableMap(answers);
    }

    /** The answers whose name begins so, without that beginning. */
    public Map<String, FeatureAnswer> below(String prefix) {
        Map<String, FeatureAnswer> found = new LinkedHashMap<>();
        answers.forEach((name, answer) -> {
            if (name.startsWith(prefix + " ")) {
                found.put(name.substring(prefix.length() + 1), answer);
            }
        });
        return found;
    }
}
