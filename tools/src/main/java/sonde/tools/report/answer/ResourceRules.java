package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import sonde.recording.bundle.RecordingMeta.TargetReading;
import sonde.tools.report.answer.Evidence.FaultSum;
import sonde.tools.report.answer.Evidence.ThreadGroup;

/** Judges what was read from /proc and cgroups: memory, throttling, CPU time of others. */
final class ResourceRules {
    private static final long GROWTH = 48L << 20;
    private static final long HEAPS = 8;
    private static final double GROWTH_PER_SECOND = 4 << 20;
    private static final double WORTH_NAMING = 0.15;
    private static final double MEMORY = 0.6;
    private static final int OTHERS = 3;

    private static final Set<String> ACCEPTS = Set.of("accept", "accept4", "listen");

    /** When a request for a connection is sent again: TCP_TIMEOUT_INIT, include/net/tcp.h. */
    private static final long RETRY_NANOS = 900_000_000;

    private ResourceRules() {}

    /** Resident memory without files grew and did not shrink again. */
    static List<Finding> memory(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        // A JVM takes more memory until its heap has the size that it may have.
        boolean fillsHeap =
                evidence.groups().stream().anyMatch(group -> group.name().equals("VM Thread"));
        for (TargetReading rss : readings(evidence, TargetReading.PRIVATE)) {
            long growth = rss.last() - rss.first();
            double perSecond = growth * 1e9 / Math.max(1, evidence.wallNanos());
            boolean grows =
                    growth >= GROWTH * (fillsHeap ? HEAPS : 1) && perSecond >= GROWTH_PER_SECOND;
            if (grows && growth > rss.most() / 2) {
                String faults =
                        evidence.faults().stream()
                                .filter(one -> rss.subject().startsWith(one.group().name()))
                                .findFirst()
                                .map(FaultSum::place)
                                .filter(place -> place.own() && place.isNamed())
                                .map(place -> "; most page faults come from " + place.phrase())
                                .orElse("");
                findings.add(
                        new Finding(
                                fillsHeap ? MEMORY / 3 : MEMORY,
                                rss.subject()
                                        + " grew from "
                                        + AnswerWording.bytes(rss.first())
                                        + " to "
                                        + AnswerWording.bytes(rss.last())
                                        + " of memory of its own"
                                        + faults
                                        + "."));
            }
        }
        return findings;
    }

    private static List<TargetReading> readings(Evidence evidence, String name) {
        return evidence.counters().stream().filter(one -> one.name().equals(name)).toList();
    }

    private static long throttledNanos(Evidence evidence) {
        return readings(evidence, TargetReading.THROTTLED).stream()
                .mapToLong(one -> one.last() - one.first())
                .max()
                .orElse(0);
    }

    /** A cgroup's limit kept threads off the CPUs. */
    static List<Finding> throttled(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        for (TargetReading one : readings(evidence, TargetReading.THROTTLED)) {
            long nanos = one.last() - one.first();
            double part = nanos / (double) Math.max(1, evidence.wallNanos());
            if (part >= WORTH_NAMING / 2) {
                String quota =
                        readings(evidence, TargetReading.QUOTA).stream()
                                .filter(limit -> limit.subject().equals(one.subject()))
                                .map(limit ->
                                        AnswerWording.percent(limit.last() / 1e9) + " of a CPU")
                                .findFirst()
                                .orElse("its limit");
                findings.add(
                        new Finding(
                                0.5 + Math.min(1, part) / 2,
                                "The cgroup "
                                        + one.subject()
                                        + " may use "
                                        + quota
                                        + ": it was throttled for "
                                        + AnswerWording.time(nanos)
                                        + " of "
                                        + AnswerWording.time(evidence.wallNanos())
                                        + "."));
            }
        }
        return findings;
    }

    /** Threads that were ready to run and got no CPU. */
    static List<Finding> starved(Evidence evidence) {
        long runnable = evidence.runnableNanos();
        long wanted = runnable + evidence.cpuNanos();
        long lives = evidence.groups().stream().mapToLong(ThreadGroup::wallNanos).sum();
        double part = runnable / (double) Math.max(1, Math.max(evidence.wallNanos(), lives));
        boolean isThrottled = throttledNanos(evidence) > runnable / 2;
        if (part < WORTH_NAMING || runnable < wanted / 3 || isThrottled) {
            return List.of();
        }
        int threads = evidence.groups().stream().mapToInt(ThreadGroup::threads).sum();
        String who = threads == 1 ? evidence.groups().getFirst().shown() : threads + " threads";
        String text =
                who
                        + " wanted "
                        + AnswerWording.time(wanted)
                        + " of CPU and got "
                        + AnswerWording.time(evidence.cpuNanos())
                        + " in "
                        + AnswerWording.time(evidence.wallNanos())
                        + ": "
                        + reason(evidence, bound(evidence))
                        + nice(evidence)
                        + ".";
        return List.of(new Finding(part, text));
    }

    /** The threads of those that wanted most, of whom this was read. */
    private static List<TargetReading> ofWanting(Evidence evidence, String name) {
        return evidence.groups().stream()
                .max(Comparator.comparingLong(ThreadGroup::runnableNanos))
                .map(group ->
                        readings(evidence, name).stream().filter(one -> is(one, group)).toList())
                .orElse(List.of());
    }

    /** Those that may run on the fewest CPUs, and only there. */
    private static List<TargetReading> bound(Evidence evidence) {
        List<TargetReading> all = ofWanting(evidence, TargetReading.BOUND);
        return all.stream()
                .min(Comparator.comparingInt(one -> Long.bitCount(one.last())))
                .map(least -> all.stream().filter(one -> one.last() == least.last()).toList())
                .orElse(List.of());
    }

    private static String nice(Evidence evidence) {
        List<TargetReading> all = ofWanting(evidence, TargetReading.NICE);
        if (all.isEmpty()) {
            return "";
        }
        String who =
                all.size() == 1 ? all.getFirst().subject() + " has" : all.size() + " threads have";
        return "; " + who + " a nice value of " + all.getFirst().last();
    }

    private static String reason(Evidence evidence, List<TargetReading> bound) {
        if (bound.isEmpty()) {
            return reason(evidence);
        }
        long mask = bound.getFirst().last();
        List<String> cpus =
                BitSet.valueOf(new long[] {mask}).stream().mapToObj(Integer::toString).toList();
        String text =
                (bound.size() == 1 ? bound.getFirst().subject() : bound.size() + " threads")
                        + " may run on CPU "
                        + String.join(", ", cpus)
                        + " only (affinity or cpuset)";
        List<TargetReading> idle =
                readings(evidence, TargetReading.IDLE).stream()
                        .filter(one -> !cpus.contains(one.subject()))
                        .filter(one -> one.last() - one.first() > evidence.wallNanos() / 10)
                        .toList();
        if (idle.isEmpty()) {
            return text + ", and " + reason(evidence);
        }
        long most = idle.stream().mapToLong(one -> one.last() - one.first()).max().orElse(0);
        return text
                + ", while "
                + (idle.size() == 1
                        ? "CPU " + idle.getFirst().subject() + " was idle for "
                        : idle.size() + " other CPUs were idle for up to ")
                + AnswerWording.time(most);
    }

    private static String reason(Evidence evidence) {
        List<TargetReading> others =
                readings(evidence, TargetReading.CPU).stream()
                        .filter(one -> evidence.groups().stream().noneMatch(own -> is(one, own)))
                        .limit(OTHERS)
                        .toList();
        long taken = others.stream().mapToLong(one -> one.last() - one.first()).sum();
        double all = evidence.cpus() * (double) evidence.wallNanos();
        boolean own = evidence.cpus() > 0 && evidence.cpuNanos() > 0.7 * all;
        if (own) {
            return "its own threads share " + evidence.cpus() + " CPUs";
        }
        if (taken * 2 < evidence.cpuNanos() || others.isEmpty()) {
            return "the CPUs were not free for " + AnswerWording.time(evidence.runnableNanos());
        }
        return "the CPUs were busy with "
                + others.stream()
                        .map(one ->
                                one.subject()
                                        + " ("
                                        + AnswerWording.time(one.last() - one.first())
                                        + ")")
                        .collect(Collectors.joining(", "));
    }

    /** Whether a process that took CPU time is one of those that wanted it. */
    private static boolean is(TargetReading other, ThreadGroup own) {
        return other.subject().equals(own.shown())
                || own.threads() > 1
                        && other.subject().replaceFirst(" \\d+$", "").equals(own.name());
    }

    /**
     * The network stack dropped connections. It counts those of all processes: said only where
     * these threads accept connections or waited long for one.
     */
    static List<Finding> network(Evidence evidence) {
        boolean accepts = evidence.calls().stream().anyMatch(call -> ACCEPTS.contains(call.call()));
        boolean waited =
                evidence.waits().stream()
                                .filter(wait -> wait.call().equals("connect"))
                                .anyMatch(wait -> wait.longest() >= RETRY_NANOS)
                        || evidence.calls().stream()
                                .filter(call -> call.call().equals("connect"))
                                .anyMatch(call -> call.errors().containsKey("EINPROGRESS"));
        List<Finding> findings = new ArrayList<>();
        for (TargetReading one :
                accepts || waited ? evidence.counters() : List.<TargetReading>of()) {
            long count = one.last() - one.first();
            String text =
                    switch (one.name()) {
                        case "ListenOverflows" ->
                                " dropped because an accept queue was full"
                                        + " (ListenOverflows of the network namespace).";
                        case "TCPSynRetrans" ->
                                " sent again: a peer did not answer"
                                        + " (TCPSynRetrans of the network namespace).";
                        default -> "";
                    };
            boolean told = one.name().equals("ListenOverflows") || waited;
            if (count > 0 && !text.isEmpty() && told) {
                String requests =
                        count == 1 ? " connection request was" : " connection requests were";
                findings.add(new Finding(0.25, AnswerWording.count(count) + requests + text));
            }
        }
        return findings;
    }
}
