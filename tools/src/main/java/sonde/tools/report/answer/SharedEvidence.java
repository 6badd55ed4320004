package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import sonde.symbol.resolve.MemoryAccess;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.answer.Evidence.SharedSum;
import sonde.tools.report.answer.Evidence.ThreadGroup;

/** Finds samples beside accesses to memory that threads share, and judges them. */
final class SharedEvidence {
    /** Bytes of a cache line, as a power of two: 64 on x86 and on most of arm64. */
    private static final int LINE = 6;

    /** What has less of all samples is not decoded. */
    private static final double LITTLE = 0.005;

    /** A thread with less of the samples beside an access is not one that holds others up. */
    private static final double TAKES_PART = 0.05;

    private static final double WORTH_NAMING = 0.3;
    private static final double PARALLEL = 1.2;
    private static final int VARIABLES = 3;

    /** It says why, and is said before the functions that the time went to. */
    private static final double FIRST = 1.1;

    private final ReportOperators found;
    private final ProgramFrames frames;
    private final Map<Integer, ThreadGroup> groups;

    SharedEvidence(ReportOperators found, ProgramFrames frames, Map<Integer, ThreadGroup> groups) {
        this.found = found;
        this.frames = frames;
        this.groups = groups;
    }

    /** A cache line of a process, or what a place does to memory whose address is not known. */
    private record MemoryLine(int pid, String module, long line, String instruction) {}

    private static final class LineSum {
        boolean writes;
        final Map<Integer, Long> threads = new HashMap<>();
        final Map<ProgramPlace, Long> places = new HashMap<>();
        final Map<String, Long> instructions = new TreeMap<>();
        final Map<String, Long> variables = new TreeMap<>();
    }

    /** Most CPU time first. */
    List<SharedSum> sums() {
        boolean weighed = found.samples().total() > 0;
        long[] all = new long[1];
        Map<Long, Long> byCode = new HashMap<>();
        found.samples()
                .forEach((thread, node, weight, count) -> {
                    if (groups.containsKey(thread)) {
                        long sum = weighed ? weight : count;
                        all[0] += sum;
                        if (node >= 0) { // samples without a stack have none
                            byCode.merge(found.stacks().location(node), sum, Long::sum);
                        }
                    }
                });
        Map<Long, Optional<MemoryAccess>> known = new HashMap<>();
        Map<MemoryLine, LineSum> lines = new HashMap<>();
        found.samples()
                .forEach((thread, node, weight, count) -> {
                    long code = node < 0 ? 0 : found.stacks().location(node);
                    if (node >= 0
                            && groups.containsKey(thread)
                            && byCode.getOrDefault(code, 0L) >= LITTLE * all[0]) {
                        known.computeIfAbsent(code, _ -> found.accessBefore(node))
                                .ifPresent(access ->
                                        add(lines, thread, node, access, weighed ? weight : count));
                    }
                });
        return lines.values().stream()
                .filter(sum -> sum.writes)
                .map(sum -> shared(sum, Math.max(1, all[0])))
                .filter(sum -> sum.threads() > 1)
                .sorted(Comparator.comparingDouble((SharedSum sum) -> -sum.share()))
                .toList();
    }

    private void add(
            Map<MemoryLine, LineSum> lines,
            int thread,
            int node,
            MemoryAccess access,
            long weight) {
        boolean placed = access.address() >= 0;
        ProgramPlace place = frames.of(node);
        MemoryLine key =
                new MemoryLine(
                        found.threads().pid(thread),
                        placed ? found.trees().frame(node).module() : "",
                        placed ? access.address() >>> LINE : -1,
                        placed ? "" : access.instruction() + " in " + place.function());
        LineSum sum = lines.computeIfAbsent(key, _ -> new LineSum());
        sum.writes |= access.writes();
        sum.threads.merge(thread, weight, Long::sum);
        sum.places.merge(place, weight, Long::sum);
        sum.instructions.merge(access.instruction(), weight, Long::sum);
        if (placed) {
            String name = access.variable();
            String shown = name.isEmpty() ? "0x" + Long.toHexString(access.address()) : name;
            sum.variables.merge(shown, weight, Long::sum);
        }
    }

    private SharedSum shared(LineSum sum, long all) {
        long weight = sum.threads.values().stream().mapToLong(Long::longValue).sum();
        int most = EvidenceMaker.mostFirst(sum.threads).getFirst();
        return new SharedSum(
                Objects.requireNonNull(groups.get(most)),
                EvidenceMaker.mostFirst(sum.places).getFirst(),
                (int)
                        sum.threads.values().stream()
                                .filter(one -> one >= TAKES_PART * weight)
                                .count(),
                weight / (double) all,
                EvidenceMaker.mostFirst(sum.instructions).getFirst(),
                EvidenceMaker.mostFirst(sum.variables));
    }

    /** Threads that run at once and use one cache line, which only one of them can write. */
    static List<Finding> findings(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        double busy =
                (evidence.cpuNanos() + evidence.runnableNanos())
                        / (double) Math.max(1, evidence.wallNanos());
        for (SharedSum sum : busy < PARALLEL ? List.<SharedSum>of() : evidence.shared()) {
            boolean known = !sum.variables().isEmpty();
            if (sum.share() >= WORTH_NAMING && sum.place().isNamed()) {
                findings.add(new Finding(sum.share() * (known ? FIRST : 0.5), text(sum)));
            }
        }
        return findings;
    }

    private static String text(SharedSum sum) {
        List<String> names = sum.variables();
        List<String> shown = names.subList(0, Math.min(VARIABLES, names.size()));
        String what = String.join(" and ", shown) + (names.size() > VARIABLES ? " and more" : "");
        String who = sum.threads() + " threads";
        String why =
                switch (names.size()) {
                    case 0 ->
                            ": "
                                    + who
                                    + " do so; if they use one cache line, each waits for the"
                                    + " others (the addresses are not known)";
                    case 1 -> ": " + who + " change this variable and wait for its cache line";
                    default -> ": " + who + " use and change what lies in this one cache line";
                };
        return sum.group().shown()
                + " had "
                + AnswerWording.percent(sum.share())
                + " of the CPU time in "
                + sum.place().phrase()
                + ", beside "
                + (sum.instruction().isEmpty() ? "accesses" : "atomic " + sum.instruction())
                + (names.isEmpty() ? "" : sum.instruction().isEmpty() ? " to " : " on ")
                + what
                + why
                + ".";
    }
}
