package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.answer.Evidence.CallSum;
import sonde.tools.report.answer.Evidence.CpuUse;
import sonde.tools.report.answer.Evidence.ThreadGroup;
import sonde.tools.report.answer.EvidenceMaker.CallKey;

/** Where samples of the CPUs were, and which places made which calls. */
final class CpuEvidence {
    private static final int MOST_LEAVES = 3;
    private static final int LEAF_LETTERS = 60;

    /** What takes the time of a place whose exceptions take most of it. */
    static final String THROWING = "throwing exceptions";

    private final ReportOperators found;
    private final ProgramFrames frames;
    private final KernelReasons reasons;
    private final Map<Integer, ThreadGroup> groups;
    private final Map<CallKey, Map<ProgramPlace, Long>> places = new HashMap<>();
    private final Map<CallKey, long[]> kernel = new HashMap<>();
    private final Map<ThreadGroup, Map<ProgramPlace, Long>> ways = new HashMap<>();
    private long sampled;
    private long inFaults;

    CpuEvidence(
            ReportOperators found,
            ProgramFrames frames,
            KernelReasons reasons,
            Map<Integer, ThreadGroup> groups) {
        this.found = found;
        this.frames = frames;
        this.reasons = reasons;
        this.groups = groups;
    }

    private static final class CpuSum {
        long weight;
        long samples;
        long kernel;
        long thrown;
        long ways;
        final Map<String, Long> calls = new HashMap<>();
        final Map<String, Long> leaves = new HashMap<>();
        final Map<String, Long> entries = new HashMap<>();
    }

    /** Up to three functions of libraries that took most of it, else the one that was called. */
    private static String leaves(CpuSum sum) {
        if (2 * sum.thrown > sum.weight) {
            return THROWING;
        }
        StringBuilder names = new StringBuilder();
        long seen = 0;
        List<String> all = EvidenceMaker.mostFirst(sum.leaves);
        for (String leaf : all.subList(0, Math.min(MOST_LEAVES, all.size()))) {
            seen += sum.leaves.getOrDefault(leaf, 0L);
            String plain = withoutTemplates(leaf);
            boolean cut = plain.length() > LEAF_LETTERS;
            names.append(names.isEmpty() ? "" : ", ");
            names.append(cut ? plain.substring(0, LEAF_LETTERS) + "…" : plain);
            if (2 * seen > sum.weight) {
                return names.toString();
            }
        }
        return EvidenceMaker.mostFirst(sum.entries).stream()
                .findFirst()
                .filter(one -> 2 * sum.entries.getOrDefault(one, 0L) > sum.weight)
                .map(one -> withoutTemplates(one) + " and what it calls")
                .orElse("");
    }

    /** A function of C++ without the arguments of templates, before which its type stands. */
    private static String withoutTemplates(String function) {
        String plain = function.replaceFirst(" \\[clone .*", "");
        for (String last = ""; !plain.equals(last); ) {
            last = plain;
            plain = plain.replaceAll("<[^<>]*>", "");
        }
        boolean typed = !plain.equals(function) && !plain.contains("operator");
        return typed ? plain.substring(plain.lastIndexOf(' ') + 1) : plain;
    }

    /** Heaviest first; {@code java} says where a JVM saw threads whose code has no names. */
    List<CpuUse> uses(BiFunction<ThreadGroup, ProgramPlace, ProgramPlace> java) {
        record PlacedUse(ThreadGroup group, ProgramPlace place) {}
        Map<PlacedUse, CpuSum> sums = new HashMap<>();
        boolean weighed = found.samples().total() > 0;
        found.samples()
                .forEach((thread, node, weight, count) -> {
                    ThreadGroup group = groups.get(thread);
                    if (group == null) {
                        return;
                    }
                    ProgramPlace place = place(node);
                    place = place.module().startsWith("[anon") ? java.apply(group, place) : place;
                    CpuSum sum =
                            sums.computeIfAbsent(new PlacedUse(group, place), any -> new CpuSum());
                    long all = weighed ? weight : count;
                    sampled += all;
                    sum.samples += count;
                    add(sum, place, node, all);
                    if (found.isKernel(node)) {
                        inFaults += reasons.isFault(node) ? all : 0;
                        String call = call(node);
                        if (!call.isEmpty()) {
                            sum.calls.merge(call, all, Long::sum);
                            CallKey key = new CallKey(group, call);
                            kernel.computeIfAbsent(key, any -> new long[1])[0] += all;
                            placed(key, place, all);
                        } else if (reasons.isCall(node)) {
                            sum.ways += all;
                        }
                    }
                });
        List<CpuUse> uses = new ArrayList<>();
        sums.forEach((key, sum) -> {
            if (sum.ways > 0) {
                ways.computeIfAbsent(key.group, any -> new HashMap<>())
                        .merge(key.place, sum.ways, Long::sum);
            }
            uses.add(
                    new CpuUse(
                            key.group,
                            key.place,
                            sum.weight / (double) Math.max(1, sampled),
                            sum.samples,
                            sum.kernel / (double) Math.max(1, sum.weight),
                            EvidenceMaker.mostFirst(sum.calls),
                            leaves(sum)));
        });
        uses.sort(
                Comparator.comparingDouble((CpuUse use) -> -use.share())
                        .thenComparing(use -> use.place().chain()));
        return uses;
    }

    /** Ways into the kernel and out of it whose calls are not known: calls without a name. */
    List<CallSum> ways() {
        List<CallSum> all = new ArrayList<>();
        ways.forEach((group, places) ->
                byFunction(places)
                        .forEach((function, weight) -> {
                            double share = weight / (double) Math.max(1, sampled);
                            all.add(CallSum.nameless(group, function, share));
                        }));
        return all;
    }

    private void add(CpuSum sum, ProgramPlace place, int node, long weight) {
        sum.weight += weight;
        sum.kernel += found.isKernel(node) ? weight : 0;
        sum.thrown += frames.isThrowing(node) ? weight : 0;
        String leaf = frames.leaf(node);
        if (!leaf.isEmpty() && !leaf.equals(place.function())) {
            sum.leaves.merge(leaf, weight, Long::sum);
        }
        String entry = frames.entry(node);
        if (place.own() && !entry.isEmpty() && !found.isKernel(node)) {
            sum.entries.merge(entry, weight, Long::sum);
        }
    }

    /**
     * The system call of a sample in the kernel. Its own function is not yet, or no longer, in the
     * chain when the tracepoint at its entry or exit fires: then the C library's tells.
     */
    String call(int node) {
        String call = found.trees().callOf(node);
        if (!call.isEmpty()) {
            return call;
        }
        int at = node;
        while (at >= 0 && found.isKernel(at)) {
            at = found.stacks().parent(at);
        }
        String wrapper = at < 0 ? "" : found.trees().frame(at).name();
        wrapper = wrapper.replaceFirst("^(__GI_)?_*(libc_)?", "");
        return Stream.of(wrapper, wrapper.replaceFirst("64$", ""))
                .filter(name -> found.callNames().numberOf(name) >= 0)
                .findFirst()
                .orElse("");
    }

    /** Where there is no user part, what the kernel did. */
    private ProgramPlace place(int node) {
        ProgramPlace place = frames.of(node);
        if (!place.function().isEmpty() || !found.isKernel(node)) {
            return place;
        }
        String call = call(node);
        String name = call.isEmpty() ? found.trees().frame(node).name() : call;
        return new ProgramPlace(name, "[kernel]", List.of(), false);
    }

    /** A place of the program made calls that took so much. */
    void placed(CallKey key, ProgramPlace place, long weight) {
        if (place.own()) {
            places.computeIfAbsent(key, any -> new HashMap<>()).merge(place, weight, Long::sum);
        }
    }

    /** The part of all samples that was in these calls. */
    double share(CallKey key) {
        return kernel.getOrDefault(key, new long[1])[0] / (double) Math.max(1, sampled);
    }

    /** The part of all samples that was in page faults. */
    double faultShare() {
        return inFaults / (double) Math.max(1, sampled);
    }

    /** The function that made most of these calls, whoever called it. */
    ProgramPlace place(CallKey key) {
        Map<ProgramPlace, Long> all = places.getOrDefault(key, Map.of());
        ProgramPlace function = EvidenceMaker.most(byFunction(all), ProgramPlace.UNKNOWN);
        return EvidenceMaker.most(all, function);
    }

    private static Map<ProgramPlace, Long> byFunction(Map<ProgramPlace, Long> places) {
        return places.entrySet().stream()
                .collect(
                        Collectors.groupingBy(
                                one -> one.getKey().withoutCallers(),
                                Collectors.summingLong(Map.Entry::getValue)));
    }
}
