package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.analysis.file.FileAccesses;
import sonde.analysis.sched.OffCpu;
import sonde.analysis.sched.OffCpu.OffCpuCause;
import sonde.analysis.sched.ThreadState;
import sonde.tools.report.OffCpuCauses;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.answer.Evidence.CpuUse;
import sonde.tools.report.answer.Evidence.ThreadGroup;
import sonde.tools.report.answer.Evidence.WaitSum;

/** Takes evidence from what operators found. */
public final class EvidenceMaker {
    /** An object stands for a wait when it has so much of the time in calls of that kind. */
    private static final double MAIN_OBJECT = 0.6;

    private final ReportOperators found;
    private final OffCpu offCpu;
    private final FileAccesses files;
    private final ProgramFrames frames;
    private final Map<Integer, ThreadGroup> groups = new HashMap<>();

    /** Evidence of the threads that a report shows. */
    public EvidenceMaker(ReportOperators found, OffCpu offCpu, FileAccesses files) {
        this.found = found;
        this.offCpu = offCpu;
        this.files = files;
        frames = new ProgramFrames(found.trees());
    }

    private record GroupKey(int pid, String name) {}

    /** All of it. */
    public Evidence evidence() {
        List<Integer> threads =
                found.shownThreads().stream()
                        .filter(thread -> !found.threads().isKernel(thread))
                        .toList();
        group(threads);
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        long running = 0;
        for (int thread : threads) {
            first = Math.min(first, found.totals().first(thread));
            last = Math.max(last, found.totals().last(thread));
            running += found.totals().nanos(thread, ThreadState.RUNNING);
        }
        return new Evidence(
                threads.isEmpty() ? 0 : last - first,
                running,
                found.isEstimated(),
                groups.values().stream()
                        .distinct()
                        .sorted(Comparator.comparingLong(one -> -one.runningNanos()))
                        .toList(),
                cpu(),
                waits());
    }

    private void group(List<Integer> threads) {
        Map<GroupKey, List<Integer>> members = new HashMap<>();
        for (int thread : threads) {
            String name = found.threads().name(thread).replaceFirst("[-_#:/ ]*\\d+$", "");
            GroupKey key = new GroupKey(found.threads().pid(thread), name);
            members.computeIfAbsent(key, any -> new ArrayList<>()).add(thread);
        }
        members.forEach((key, all) -> {
            boolean one = all.size() == 1;
            ThreadGroup group =
                    new ThreadGroup(
                            one ? found.threads().name(all.getFirst()) : key.name,
                            key.pid,
                            one ? found.threads().tid(all.getFirst()) : 0,
                            all.size(),
                            all.stream().mapToLong(found.totals()::wallNanos).sum(),
                            sum(all, ThreadState.RUNNING),
                            sum(all, ThreadState.WAITING) + sum(all, ThreadState.PREEMPTED));
            all.forEach(thread -> groups.put(thread, group));
        });
    }

    private long sum(List<Integer> threads, ThreadState state) {
        return threads.stream().mapToLong(thread -> found.totals().nanos(thread, state)).sum();
    }

    private static final class CpuSum {
        long weight;
        long samples;
        long kernel;
        final Map<String, Long> calls = new HashMap<>();
    }

    private List<CpuUse> cpu() {
        record PlacedUse(ThreadGroup group, ProgramPlace place) {}
        Map<PlacedUse, CpuSum> sums = new HashMap<>();
        boolean weighed = found.samples().total() > 0;
        long[] total = {0};
        found.samples()
                .forEach((thread, node, weight, count) -> {
                    ThreadGroup group = groups.get(thread);
                    if (group == null) {
                        return;
                    }
                    CpuSum sum =
                            sums.computeIfAbsent(
                                    new PlacedUse(group, frames.of(node)), any -> new CpuSum());
                    long all = weighed ? weight : count;
                    total[0] += all;
                    sum.weight += all;
                    sum.samples += count;
                    if (found.isKernel(node)) {
                        sum.kernel += all;
                        String call = found.trees().callOf(node);
                        if (!call.isEmpty()) {
                            sum.calls.merge(call, all, Long::sum);
                        }
                    }
                });
        List<CpuUse> uses = new ArrayList<>();
        sums.forEach((key, sum) ->
                uses.add(
                        new CpuUse(
                                key.group,
                                key.place,
                                sum.weight / (double) Math.max(1, total[0]),
                                sum.samples,
                                sum.kernel / (double) Math.max(1, sum.weight),
                                mostFirst(sum.calls))));
        uses.sort(
                Comparator.comparingDouble((CpuUse use) -> -use.share())
                        .thenComparing(use -> use.place().chain()));
        return uses;
    }

    private static List<String> mostFirst(Map<String, Long> sums) {
        return sums.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .map(Map.Entry::getKey)
                .toList();
    }

    private record CallKey(ThreadGroup group, String call) {}

    private static final class WaitTotal {
        long nanos;
        long count;
        long longest;
        final Map<String, Long> wakers = new TreeMap<>();
    }

    private List<WaitSum> waits() {
        Map<CallKey, Map<String, Long>> objects = objects();
        record PlacedWait(CallKey call, ThreadState state, ProgramPlace place) {}
        Map<PlacedWait, WaitTotal> sums = new HashMap<>();
        for (OffCpu.Entry entry : offCpu.entries()) {
            OffCpuCause cause = entry.cause();
            ThreadGroup group = groups.get(cause.thread());
            boolean waits =
                    cause.state() == ThreadState.SLEEPING
                            || cause.state() == ThreadState.BLOCKED
                            || cause.state() == ThreadState.STOPPED;
            if (group == null || !waits) {
                continue;
            }
            String call = OffCpuCauses.callName(found, cause);
            if (call.isEmpty()) {
                call = found.trees().waitsIn(cause.stack());
            }
            PlacedWait key =
                    new PlacedWait(
                            new CallKey(group, call), cause.state(), frames.of(cause.stack()));
            WaitTotal sum = sums.computeIfAbsent(key, any -> new WaitTotal());
            sum.nanos += entry.sum().nanos();
            sum.count += entry.sum().count();
            sum.longest = Math.max(sum.longest, entry.sum().max());
            String waker = cause.waker() < 0 ? "interrupt" : found.wakerName(cause.waker());
            sum.wakers.merge(waker, entry.sum().nanos(), Long::sum);
        }
        List<WaitSum> waits = new ArrayList<>();
        sums.forEach((key, sum) ->
                waits.add(
                        new WaitSum(
                                key.call.group,
                                key.state.label(),
                                key.call.call,
                                main(objects.getOrDefault(key.call, Map.of())),
                                key.place,
                                sum.wakers,
                                sum.nanos,
                                sum.count,
                                sum.longest)));
        waits.sort(
                Comparator.comparingLong((WaitSum wait) -> -wait.nanos())
                        .thenComparing(wait -> wait.group().shown() + wait.call()));
        return waits;
    }

    /** Files and peers by the time that a group spent in calls with them. */
    private Map<CallKey, Map<String, Long>> objects() {
        Map<CallKey, Map<String, Long>> objects = new HashMap<>();
        files.forEachUse(use -> {
            ThreadGroup group = groups.get(use.thread());
            if (group != null) {
                CallKey key = new CallKey(group, found.callNames().nameOf(use.number()));
                objects.computeIfAbsent(key, any -> new TreeMap<>())
                        .merge(use.name(), use.nanos(), Long::sum);
            }
        });
        return objects;
    }

    private static String main(Map<String, Long> objects) {
        long all = objects.values().stream().mapToLong(Long::longValue).sum();
        return objects.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .filter(most -> most.getValue() >= MAIN_OBJECT * all)
                .map(Map.Entry::getKey)
                .orElse("");
    }
}
