package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import sonde.analysis.SignalDeliveries;
import sonde.analysis.file.FileAccesses;
import sonde.analysis.file.ObjectWaits;
import sonde.analysis.file.ObjectWaits.ObjectWait;
import sonde.analysis.sched.OffCpu;
import sonde.analysis.sched.OffCpu.OffCpuCause;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.ThreadsNow;
import sonde.analysis.sched.ThreadsNow.ThreadLook;
import sonde.analysis.sched.WaitCauses;
import sonde.analysis.stack.SignalDeaths;
import sonde.analysis.stack.StackAggregate;
import sonde.analysis.syscall.SyscallDurations;
import sonde.analysis.syscall.SyscallStats;
import sonde.recording.bundle.JavaThreads;
import sonde.recording.bundle.JavaThreads.JavaLock;
import sonde.recording.bundle.JavaThreads.JavaThread;
import sonde.sys.Errno;
import sonde.tools.report.OffCpuCauses;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.answer.Evidence.CallSum;
import sonde.tools.report.answer.Evidence.CpuUse;
import sonde.tools.report.answer.Evidence.FaultSum;
import sonde.tools.report.answer.Evidence.ThreadGroup;
import sonde.tools.report.answer.Evidence.WaitSum;

/** Takes evidence from what operators found. */
public final class EvidenceMaker {
    /** An object stands for a wait when it has so much of the time in calls of that kind. */
    private static final double MAIN_OBJECT = 0.6;

    /** A group makes one kind of call where so many are of it. */
    private static final double ONE_CALL = 0.9;

    private static final int MOST_CHILDREN = 3;

    private final ReportOperators found;
    private final OffCpu offCpu;
    private final SyscallDurations calls;
    private final FileAccesses files;
    private final CpuEvidence cpu;
    private final SignalEvidence killed;
    private final StackAggregate faults;
    private final WaitCauses causes;
    private final ObjectWaits waited;
    private final ThreadsNow looks;
    private final ProgramFrames frames;
    private final KernelReasons reasons;
    private final Map<Integer, ThreadGroup> groups = new HashMap<>();
    private final Map<CallKey, Map<String, Long>> objects = new HashMap<>();
    private final Map<CallKey, Map<String, Long>> paths = new HashMap<>();
    private final Map<CallKey, Map<String, Long>> waitObjects = new HashMap<>();
    private final Map<CallKey, Map<String, Long>> holders = new HashMap<>();
    private final Map<CallKey, Map<String, Long>> meanwhile = new HashMap<>();

    /** As {@link #meanwhile}, threads of one name together. */
    private final Map<CallKey, Map<String, Long>> likes = new HashMap<>();

    private final Map<ThreadGroup, Map<String, Long>> javaPlaces = new HashMap<>();
    private final Map<ThreadGroup, Map<String, Long>> javaLocks = new HashMap<>();
    private final Map<ThreadGroup, Map<String, Long>> javaHolders = new HashMap<>();
    private final Map<ThreadGroup, Long> javaLooks = new HashMap<>();

    /** Evidence of the threads that a report shows. */
    public EvidenceMaker(
            ReportOperators found,
            OffCpu offCpu,
            SyscallDurations calls,
            FileAccesses files,
            SignalDeliveries signals,
            SignalDeaths deaths,
            StackAggregate faults,
            WaitCauses causes,
            ObjectWaits waited,
            ThreadsNow looks) {
        this.found = found;
        this.offCpu = offCpu;
        this.calls = calls;
        this.files = files;
        this.faults = faults;
        this.causes = causes;
        this.waited = waited;
        this.looks = looks;
        frames = new ProgramFrames(found.trees());
        reasons = new KernelReasons(found.trees());
        cpu = new CpuEvidence(found, frames, reasons, groups);
        killed = new SignalEvidence(found, signals, deaths, frames, reasons, cpu, groups);
    }

    record CallKey(ThreadGroup group, String call) {}

    /** All of it. */
    public Evidence evidence() {
        List<Integer> threads =
                found.shownThreads().stream()
                        .filter(thread -> !found.threads().isKernel(thread))
                        .toList();
        groups.putAll(new ThreadGroups(found, offCpu, frames).of(threads));
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (int thread : threads) {
            first = Math.min(first, found.totals().first(thread));
            last = Math.max(last, found.totals().last(thread));
        }
        objects();
        causes();
        waited();
        looked();
        javaLocks();
        List<CpuUse> uses = cpu.uses(this::java);
        List<WaitSum> waits = waits();
        StartEvidence starts = new StartEvidence(found, calls, files);
        return new Evidence(
                threads.isEmpty() ? 0 : last - first,
                groups.values().stream()
                        .distinct()
                        .sorted(Comparator.comparingLong(one -> -one.runningNanos()))
                        .toList(),
                uses,
                new SharedEvidence(found, frames, groups).sums(),
                waits,
                calls(threads),
                starts.starts(threads, true, first, last),
                starts.starts(threads, false, first, last),
                killed.signals(),
                killed.deaths(this::object),
                faults(),
                starts.descriptors(threads),
                starts.failures(),
                found.meta() == null ? List.of() : found.meta().target().counters(),
                found.meta() == null ? 0 : found.meta().machine().cpus().size(),
                cpu.faultShare(),
                found.isOfEverything()
                        && found.shownThreads().stream().anyMatch(found.threads()::isKernel));
    }

    /** Files and peers by the time that a group spent in calls with them. */
    private void objects() {
        files.forEachUse(use -> {
            ThreadGroup group = groups.get(use.thread());
            if (group != null) {
                CallKey key = new CallKey(group, found.callNames().nameOf(use.number()));
                objects.computeIfAbsent(key, any -> new TreeMap<>())
                        .merge(use.name(), use.nanos() + use.opens(), Long::sum);
                uses.computeIfAbsent(key, any -> new TreeMap<>())
                        .merge(use.name(), use.calls(), Long::sum);
                bytes.computeIfAbsent(key, any -> new TreeMap<>())
                        .merge(use.name(), use.bytes(), Long::sum);
            }
        });
        files.forEachPath((thread, number, path, told) -> {
            ThreadGroup group = groups.get(thread);
            if (group != null) {
                CallKey key = new CallKey(group, found.callNames().nameOf(number));
                paths.computeIfAbsent(key, any -> new TreeMap<>()).merge(path, told, Long::sum);
            }
        });
    }

    /** What those who ended waits did meanwhile, as sentences have it. */
    private void causes() {
        causes.forEach((cause, nanos) -> {
            ThreadGroup group = groups.get(cause.thread());
            if (group == null) {
                return;
            }
            String call = cause.call() < 0 ? "" : found.callNames().nameOf(cause.call());
            String held =
                    cause.holderCall() < 0 ? "" : found.callNames().nameOf(cause.holderCall());
            ProgramPlace place = frames.of(cause.holderStack());
            String from = place.own() && place.isNamed() ? " in " + place.chain() : "";
            String did =
                    switch (cause.state()) {
                        case RUNNING, UNKNOWN -> isKnown(cause.holder()) ? "ran" : "";
                        case WAITING, PREEMPTED -> "waited for a CPU";
                        case SLEEPING, BLOCKED, STOPPED ->
                                held.contains("nanosleep")
                                        ? "slept" + from
                                        : "waited" + (held.isEmpty() ? "" : " in " + held) + from;
                    };
            String which = did.isEmpty() ? "" : ", which " + did;
            CallKey key = new CallKey(group, call);
            meanwhile
                    .computeIfAbsent(key, any -> new TreeMap<>())
                    .merge(found.threadName(cause.holder()) + which, nanos, Long::sum);
            likes.computeIfAbsent(key, any -> new TreeMap<>())
                    .merge(found.wakerName(cause.holder()) + which, nanos, Long::sum);
        });
    }

    /** Whether the recording has when a thread ran: it has not of those that are not recorded. */
    private boolean isKnown(int thread) {
        return found.totals().nanos(thread, ThreadState.RUNNING) > 0;
    }

    /** Calls and bytes by file or peer. */
    private final Map<CallKey, Map<String, Long>> uses = new HashMap<>();

    private final Map<CallKey, Map<String, Long>> bytes = new HashMap<>();

    /** What waits were for, where that is more than a descriptor tells. */
    private void waited() {
        for (ObjectWait wait : waited.waits()) {
            ThreadGroup group = groups.get(wait.thread());
            if (group == null || wait.call() < 0) {
                continue;
            }
            CallKey key = new CallKey(group, found.callNames().nameOf(wait.call()));
            String object = found.variable(wait.thread(), wait.object());
            if (!object.startsWith("futex 0x")) {
                waitObjects
                        .computeIfAbsent(key, any -> new TreeMap<>())
                        .merge(object, wait.nanos(), Long::sum);
            }
            if (wait.holder() >= 0 && wait.object().startsWith(WaitRules.LOCKED)) {
                ProgramPlace place = frames.of(wait.holderStack());
                String call =
                        wait.holderCall() < 0
                                ? ""
                                : ", which was in " + found.callNames().nameOf(wait.holderCall());
                String doing = place.isNamed() ? ", which was in " + place.chain() : call;
                holders.computeIfAbsent(key, any -> new TreeMap<>())
                        .merge(found.threadName(wait.holder()) + doing, wait.nanos(), Long::sum);
            }
        }
    }

    /** What JVMs told of the locks that their threads wait for. */
    private void javaLocks() {
        for (JavaThreads dump : found.javaThreads()) {
            for (JavaThread thread : dump.threads()) {
                int own = found.threads().find(thread.tid());
                ThreadGroup group = own < 0 ? null : groups.get(own);
                if (group == null || found.threads().pid(own) != dump.pid()) {
                    continue;
                }
                javaLooks.merge(group, 1L, Long::sum);
                if (!thread.place().isEmpty()) {
                    javaPlaces
                            .computeIfAbsent(group, _ -> new TreeMap<>())
                            .merge(thread.place(), 1L, Long::sum);
                }
                JavaLock lock = thread.waitsFor();
                JavaThread holder = lock == null ? null : dump.holder(lock);
                if (lock != null && holder != null) {
                    String in = holder.place().isEmpty() ? "" : ", which was in " + holder.place();
                    javaLocks
                            .computeIfAbsent(group, _ -> new TreeMap<>())
                            .merge(
                                    WaitRules.LOCKED + "of class " + lock.className(),
                                    1L,
                                    Long::sum);
                    javaHolders
                            .computeIfAbsent(group, _ -> new TreeMap<>())
                            .merge(holder.name() + in, 1L, Long::sum);
                }
            }
        }
    }

    /** Objects that the recorder saw where no event tells one. */
    private void looked() {
        for (ThreadLook look : looks.looks()) {
            ThreadGroup group = groups.get(look.thread());
            if (group != null && look.syscall() >= 0 && !look.object().isEmpty()) {
                CallKey key = new CallKey(group, found.callNames().nameOf(look.syscall()));
                waitObjects.computeIfAbsent(key, any -> new TreeMap<>(Map.of(look.object(), 1L)));
            }
        }
    }

    /** The object of most of the waits, or the first of several. */
    private String waitObject(CallKey key, long waited) {
        Map<String, Long> sums = waitObjects.getOrDefault(key, Map.of());
        // Of the other waits of this call the object is not known.
        if (2 * sum(sums) < waited) {
            return object(key);
        }
        String main = most(sums, "");
        List<String> all = mostFirst(sums);
        if (sums.size() > 1 && all.getFirst().startsWith(WaitRules.CHILD_NAMED)) {
            return children(all);
        }
        String folder = main.isEmpty() ? StartEvidence.folder(sums) : "";
        return !folder.isEmpty()
                ? folder
                : main.isEmpty()
                        ? String.join(", ", all.subList(0, Math.min(2, all.size())))
                                + (all.size() > 2 ? " and " + (all.size() - 2) + " more" : "")
                        : main;
    }

    /** {@code children tr ×12, sed ×3}; most time first. */
    private static String children(List<String> all) {
        Map<String, Long> names = new LinkedHashMap<>();
        for (String child : all) {
            String name = child.substring(WaitRules.CHILD_NAMED.length());
            names.merge(name.replaceFirst(" \\d+$", ""), 1L, Long::sum);
        }
        String shown =
                mostFirst(names).stream()
                        .limit(MOST_CHILDREN)
                        .map(name -> name + times(names.getOrDefault(name, 0L)))
                        .collect(Collectors.joining(", "));
        return "children " + shown + (names.size() > MOST_CHILDREN ? ", …" : "");
    }

    private static String times(long count) {
        return count == 1 ? "" : " ×" + AnswerWording.count(count);
    }

    /** The object of most of the calls, else the folder of nearly all of them. */
    private String object(CallKey key) {
        String name = object(objects.getOrDefault(key, Map.of()));
        return name.isEmpty() ? object(paths.getOrDefault(key, Map.of())) : name;
    }

    private static String object(Map<String, Long> sums) {
        String main = most(sums, "");
        return main.isEmpty() ? StartEvidence.folder(sums) : main;
    }

    /** What has most of a sum; {@code none} when nothing has much of it. */
    static <T> T most(Map<T, Long> sums, T none) {
        long all = sums.values().stream().mapToLong(Long::longValue).sum();
        return sums.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .filter(most -> all > 0 && most.getValue() >= MAIN_OBJECT * all)
                .map(Map.Entry::getKey)
                .orElse(none);
    }

    static <T> List<T> mostFirst(Map<T, Long> sums) {
        return sums.entrySet().stream()
                .sorted(Map.Entry.<T, Long>comparingByValue().reversed())
                .map(Map.Entry::getKey)
                .toList();
    }

    private static final class PlacedTotal {
        long nanos;
        long count;
        long longest;
        long byLikes;
        final Map<String, Long> wakers = new TreeMap<>();
    }

    private List<WaitSum> waits() {
        record PlacedWait(CallKey call, ThreadState state, String reason, ProgramPlace place) {}
        Map<PlacedWait, PlacedTotal> sums = new HashMap<>();
        Map<CallKey, Long> totals = new HashMap<>();
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
            ProgramPlace place = java(group, frames.of(cause.stack()));
            String reason = reasons.of(cause.stack(), call);
            CallKey key = new CallKey(group, call);
            PlacedTotal sum =
                    sums.computeIfAbsent(
                            new PlacedWait(key, cause.state(), reason, place),
                            any -> new PlacedTotal());
            long nanos = entry.sum().nanos();
            totals.merge(key, nanos, Long::sum);
            cpu.placed(key, place, nanos / 1000); // samples of calls tell more, where there are any
            sum.nanos += nanos;
            sum.count += entry.sum().count();
            sum.longest = Math.max(sum.longest, entry.sum().max());
            sum.byLikes += group.equals(groups.get(cause.waker())) ? nanos : 0;
            String waker = cause.waker() < 0 ? Evidence.INTERRUPT : found.wakerName(cause.waker());
            sum.wakers.merge(waker, nanos, Long::sum);
        }
        List<WaitSum> waits = new ArrayList<>();
        sums.forEach((key, sum) -> {
            Map<String, Long> java =
                    key.call.call.equals("futex")
                            ? javaLocks(key.call.group, key.reason)
                            : Map.of();
            String object = waitObject(key.call, totals.getOrDefault(key.call, 0L));
            String held = meanwhile(key.call, totals.getOrDefault(key.call, 0L));
            waits.add(
                    new WaitSum(
                            key.call.group,
                            key.state.label(),
                            key.call.call,
                            key.reason,
                            java.isEmpty() ? object : most(java, object),
                            key.place,
                            java.isEmpty()
                                    ? held
                                    : most(
                                            javaHolders.getOrDefault(key.call.group, Map.of()),
                                            held),
                            sum.wakers,
                            sum.byLikes > sum.nanos / 2,
                            sum.nanos,
                            sum.count,
                            sum.longest));
        });
        waits.sort(
                Comparator.comparingLong((WaitSum wait) -> -wait.nanos())
                        .thenComparing(wait -> wait.group().shown() + wait.call()));
        return waits;
    }

    /**
     * Locks that the JVM saw a group wait for: in most of its looks, or in any where the stack
     * tells that a monitor is waited for.
     */
    private Map<String, Long> javaLocks(ThreadGroup group, String reason) {
        Map<String, Long> locks = javaLocks.getOrDefault(group, Map.of());
        boolean isMonitor = reason.equals(FutexReasons.MONITOR);
        return isMonitor || 2 * sum(locks) > javaLooks.getOrDefault(group, 0L) ? locks : Map.of();
    }

    /** Where the JVM saw a thread, for a chain without names. */
    private ProgramPlace java(ThreadGroup group, ProgramPlace place) {
        String seen =
                place.own() && place.isNamed()
                        ? ""
                        : most(javaPlaces.getOrDefault(group, Map.of()), "");
        return seen.isEmpty() ? place : new ProgramPlace(seen, "[jit]", List.of(), true);
    }

    /** Who held up most of it; empty where too little is known. */
    private String meanwhile(CallKey key, long waited) {
        Map<String, Long> known = meanwhile.getOrDefault(key, Map.of());
        String held = 2 * sum(known) < waited ? "" : most(known, "");
        if (held.isEmpty() && 2 * sum(known) >= waited) {
            held = most(likes.getOrDefault(key, Map.of()), "");
        }
        Map<String, Long> told = holders.getOrDefault(key, Map.of());
        return held.isEmpty() && 2 * sum(told) >= waited ? most(told, "") : held;
    }

    private static long sum(Map<String, Long> sums) {
        return sums.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Ways into the kernel are those of the one call that a group makes all the time. */
    private static void merge(List<CallSum> calls, CallSum way) {
        List<CallSum> own =
                calls.stream().filter(call -> call.group().equals(way.group())).toList();
        long all = own.stream().mapToLong(CallSum::count).sum();
        own.stream()
                .filter(call -> call.count() > ONE_CALL * all)
                .filter(call -> call.place().function().equals(way.place().function()))
                .findFirst()
                .ifPresentOrElse(
                        call -> {
                            calls.remove(call);
                            calls.add(call.with(way.cpuShare()));
                        },
                        () -> calls.add(way));
    }

    private List<CallSum> calls(List<Integer> threads) {
        Map<CallKey, SyscallStats> sums = new HashMap<>();
        for (int thread : threads) {
            for (SyscallStats one : calls.of(thread)) {
                ThreadGroup group = groups.get(thread);
                if (group != null) {
                    CallKey key = new CallKey(group, found.callNames().nameOf(one.number()));
                    sums.computeIfAbsent(key, any -> new SyscallStats(one.number())).add(one);
                }
            }
        }
        List<CallSum> result = new ArrayList<>();
        sums.forEach((key, sum) -> {
            Map<String, Long> errors = new TreeMap<>();
            sum.errors()
                    .forEach((errno, count) -> {
                        String name = Errno.name(errno);
                        if (!name.startsWith("ERESTART") && !name.equals("EINTR")) {
                            errors.put(name, count);
                        }
                    });
            long failed = errors.values().stream().mapToLong(Long::longValue).sum();
            boolean fails = failed > sum.latency().count() / 2;
            Map<String, Long> used = uses.getOrDefault(key, Map.of());
            Map<String, Long> moved = bytes.getOrDefault(key, Map.of());
            boolean opens = sum(used) == 0;
            String object =
                    fails && !StormRules.LOCKS.contains(key.call)
                            ? ""
                            : object(opens ? objects.getOrDefault(key, Map.of()) : used);
            // Of one object only its own calls are told, of a folder nearly all are on it.
            long all = sum.latency().count();
            boolean one = !fails && !opens && used.containsKey(object);
            result.add(
                    new CallSum(
                            key.group,
                            key.call,
                            one ? used.getOrDefault(object, all) : all,
                            sum.latency().sum(),
                            sum.latency().quantile(0.5),
                            errors,
                            object.isEmpty() ? object(paths.getOrDefault(key, Map.of())) : object,
                            one ? moved.getOrDefault(object, 0L) : sum(moved),
                            cpu.share(key),
                            cpu.place(key)));
        });
        cpu.ways().forEach(way -> merge(result, way));
        result.sort(
                Comparator.comparingDouble((CallSum call) -> -call.cpuShare())
                        .thenComparing(call -> -call.count())
                        .thenComparing(CallSum::call));
        return result;
    }

    private List<FaultSum> faults() {
        record PlacedFault(ThreadGroup group, ProgramPlace place) {}
        Map<PlacedFault, Long> sums = new HashMap<>();
        faults.forEach((thread, node, weight, count) -> {
            ThreadGroup group = groups.get(thread);
            if (group != null) {
                sums.merge(
                        new PlacedFault(group, frames.of(node)),
                        Math.max(weight, count),
                        Long::sum);
            }
        });
        return sums.entrySet().stream()
                .map(sum ->
                        new FaultSum(sum.getKey().group(), sum.getKey().place(), sum.getValue()))
                .sorted(Comparator.comparingLong((FaultSum one) -> -one.count()))
                .toList();
    }
}
