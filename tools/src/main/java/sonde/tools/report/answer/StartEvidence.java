package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import sonde.analysis.ThreadTable;
import sonde.analysis.file.FileAccesses;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.syscall.SyscallDurations;
import sonde.analysis.syscall.SyscallStats;
import sonde.sys.Errno;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.answer.Evidence.DescriptorSum;
import sonde.tools.report.answer.Evidence.FailureSum;
import sonde.tools.report.answer.Evidence.StartSum;

/** Counts the life of processes, their descriptors and what they could not open. */
final class StartEvidence {
    private static final Set<String> OPEN =
            Set.of(
                    "open",
                    "openat",
                    "openat2",
                    "creat",
                    "socket",
                    "accept",
                    "accept4",
                    "dup",
                    "eventfd2",
                    "epoll_create1",
                    "memfd_create",
                    "timerfd_create",
                    "inotify_init1",
                    "pidfd_open",
                    "signalfd4");
    private static final Set<String> OPEN_TWO = Set.of("pipe", "pipe2", "socketpair");
    private static final Set<String> WAIT = Set.of("wait4", "waitid");
    private static final int NAMES = 2;
    private static final int FEW_NAMES = 3;

    /** Names that failed with one error are spoken of together when they are so much of all. */
    private static final double MOST = 0.8;

    /** What uses outside of a folder may be left out when it is said that all lie there. */
    private static final double FOLDER = 0.95;

    private final ReportOperators found;
    private final SyscallDurations calls;
    private final FileAccesses files;

    StartEvidence(ReportOperators found, SyscallDurations calls, FileAccesses files) {
        this.found = found;
        this.calls = calls;
        this.files = files;
    }

    private static final class Started {
        long count;
        long nanos;
        long cpu;
        long ended;
        int tenths;
        final Map<String, Long> parents = new HashMap<>();
        final Map<Integer, Boolean> makers = new HashMap<>();
    }

    /** Whether a recording without one of these calls means that nobody made it. */
    private boolean sees(String call) {
        return found.counts().counts().stream()
                .map(one -> one.type().qualifiedName())
                .anyMatch(name ->
                        name.equals("raw_syscalls:sys_exit") || name.endsWith("exit_" + call));
    }

    /** Processes born in the recording, by the name of their program; or their other threads. */
    List<StartSum> starts(List<Integer> threads, boolean leaders, long first, long last) {
        ThreadTable table = found.threads();
        Map<String, Started> sums = new HashMap<>();
        for (int thread : threads) {
            int parent = table.parent(thread);
            boolean wanted =
                    table.isProcessTold(thread)
                            && table.tid(thread) == table.pid(thread) == leaders;
            boolean begins = table.born(thread) > 0 && wanted;
            if (parent < 0 || !begins || table.isRecorder(parent)) {
                continue;
            }
            Started sum = sums.computeIfAbsent(table.name(thread), any -> new Started());
            long end = Math.min(table.died(thread), last);
            sum.count++;
            sum.tenths |= 1 << (10 * (table.born(thread) - first) / Math.max(1, last - first + 1));
            sum.nanos += Math.max(0, end - table.born(thread));
            sum.cpu += found.totals().nanos(thread, ThreadState.RUNNING);
            sum.ended += table.died(thread) <= last ? 1 : 0;
            String maker = table.name(parent) + " " + table.pid(parent);
            sum.parents.merge(maker, 1L, Long::sum);
            sum.makers.put(parent, true);
        }
        boolean waits = sees("wait4");
        List<StartSum> result = new ArrayList<>();
        sums.forEach((name, sum) -> {
            long reaped =
                    !waits
                            ? sum.ended
                            : threads.stream()
                                    .filter(thread ->
                                            sum.makers.keySet().stream()
                                                    .anyMatch(maker ->
                                                            table.pid(maker) == table.pid(thread)))
                                    .flatMap(thread -> calls.of(thread).stream())
                                    .filter(one ->
                                            WAIT.contains(found.callNames().nameOf(one.number())))
                                    .mapToLong(SyscallStats::positive)
                                    .sum();
            String parent =
                    sum.parents.entrySet().stream()
                            .max(Map.Entry.comparingByValue())
                            .map(Map.Entry::getKey)
                            .orElse("?");
            result.add(
                    new StartSum(
                            name,
                            parent,
                            sum.count,
                            sum.nanos,
                            sum.cpu,
                            sum.ended,
                            reaped,
                            Integer.bitCount(sum.tenths)));
        });
        result.sort(
                Comparator.comparingLong((StartSum one) -> -one.count())
                        .thenComparing(StartSum::name));
        return result;
    }

    /** Descriptors that were made and closed, by process. */
    List<DescriptorSum> descriptors(List<Integer> threads) {
        if (!sees("close")) {
            return List.of();
        }
        Map<Integer, long[]> sums = new HashMap<>();
        Map<Integer, String> names = new HashMap<>();
        for (int thread : threads) {
            int pid = found.threads().pid(thread);
            names.putIfAbsent(pid, found.threads().name(thread) + " " + pid);
            long[] sum = sums.computeIfAbsent(pid, any -> new long[2]);
            for (SyscallStats one : calls.of(thread)) {
                String call = found.callNames().nameOf(one.number());
                long done = one.latency().count() - one.errorCount();
                sum[0] += OPEN.contains(call) ? done : OPEN_TWO.contains(call) ? 2 * done : 0;
                sum[1] += call.equals("close") ? done : 0;
                sum[1] += call.equals("close_range") && done > 0 ? sum[0] : 0;
            }
        }
        Map<Integer, Map<String, Long>> opened = new HashMap<>();
        files.forEachUse(use -> {
            int pid = found.threads().pid(use.thread());
            opened.computeIfAbsent(pid, any -> new HashMap<>())
                    .merge(use.name(), use.opens(), Long::sum);
        });
        List<DescriptorSum> result = new ArrayList<>();
        sums.forEach((pid, sum) ->
                result.add(
                        new DescriptorSum(
                                names.getOrDefault(pid, "?"),
                                sum[0],
                                sum[1],
                                Math.min(sum[0], files.mostOpen(pid)),
                                opened.getOrDefault(pid, Map.of()).entrySet().stream()
                                        .filter(one -> one.getValue() > 1)
                                        .sorted(
                                                Map.Entry.<String, Long>comparingByValue()
                                                        .reversed())
                                        .limit(NAMES)
                                        .map(one ->
                                                one.getKey()
                                                        + " ×"
                                                        + AnswerWording.count(one.getValue()))
                                        .toList())));
        result.sort(Comparator.comparingLong((DescriptorSum one) -> -one.most()));
        return result;
    }

    /** What failed, for each error: the name, or the folder that most of the names lie in. */
    List<FailureSum> failures() {
        Map<Integer, List<FileAccesses.Failure>> byError = new HashMap<>();
        for (FileAccesses.Failure failure : files.failures(found::shown)) {
            byError.computeIfAbsent(failure.errno(), any -> new ArrayList<>()).add(failure);
        }
        List<FailureSum> result = new ArrayList<>();
        byError.forEach((errno, all) -> {
            long count = all.stream().mapToLong(FileAccesses.Failure::count).sum();
            long seen = 0;
            String common = null;
            for (FileAccesses.Failure one : all) {
                if (seen < MOST * count) {
                    common = common == null ? one.name() : common(common, one.name());
                    seen += one.count();
                }
            }
            String name = common == null || common.length() < 2 ? all.getFirst().name() : common;
            result.add(new FailureSum(name, Errno.name(errno), count, all.size()));
        });
        silentPeers(result);
        result.sort(Comparator.comparingLong((FailureSum one) -> -one.count()));
        return result;
    }

    /** What was connected to without waiting, and with which no byte was moved. */
    private void silentPeers(List<FailureSum> result) {
        Map<String, long[]> sums = new HashMap<>();
        files.forEachUse(use -> {
            if (use.peer() && !use.name().startsWith("at ") && found.shown(use.thread())) {
                long[] sum = sums.computeIfAbsent(use.name(), _ -> new long[2]);
                sum[0] +=
                        found.callNames().numberOf(found.callNames().nameOf(use.number())) < 0
                                ? use.opens()
                                : 0;
                sum[1] += use.bytes();
            }
        });
        sums.forEach((name, sum) -> {
            if (sum[0] > 1 && sum[1] == 0) {
                result.add(new FailureSum(name, FailureSum.SILENT, sum[0], 1));
            }
        });
    }

    /** {@code /var/spool/… (12 names)}: of nearly all of these paths; empty where they differ. */
    static String folder(Map<String, Long> paths) {
        long count = paths.values().stream().mapToLong(Long::longValue).sum();
        long seen = 0;
        int names = 0;
        String common = null;
        List<Map.Entry<String, Long>> all = new ArrayList<>(paths.entrySet());
        all.sort(Map.Entry.<String, Long>comparingByValue().reversed());
        for (Map.Entry<String, Long> one : all) {
            if (seen < FOLDER * count) {
                common = common == null ? one.getKey() : common(common, one.getKey());
                seen += one.getValue();
                names++;
            }
        }
        boolean tells = names > 1 && common != null && common.matches("/[^/]+/[^/]+.*");
        if (tells && names <= FEW_NAMES) {
            return all.stream()
                    .limit(names)
                    .map(Map.Entry::getKey)
                    .collect(Collectors.joining(", "));
        }
        return tells ? common + " (" + AnswerWording.count(names) + " names)" : "";
    }

    /** The common beginning of two paths, with an ellipsis behind. */
    private static String common(String one, String other) {
        String mine = one.endsWith("…") ? one.substring(0, one.length() - 1) : one;
        if (mine.equals(other)) {
            return mine;
        }
        int same = 0;
        while (same < mine.length()
                && same < other.length()
                && mine.charAt(same) == other.charAt(same)) {
            same++;
        }
        return same == 0 ? "" : mine.substring(0, same) + "…";
    }
}
