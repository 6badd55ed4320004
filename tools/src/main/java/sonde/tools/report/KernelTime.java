package sonde.tools.report;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.EventCounts.TypeCount;
import sonde.analysis.RecordedLosses.LossOrigin;
import sonde.analysis.RecordedLosses.LossTotal;
import sonde.analysis.sched.ThreadState;

/**
 * How the time on the CPU divides into kernel and user: by system calls; by the share of samples
 * where no calls were recorded, or many were lost.
 *
 * @param byThread kernel time of each thread shown, nanoseconds
 * @param total their sum
 * @param estimated whether calls were recorded, but lost so that samples had to tell
 * @param mostKernel the thread with most of it, null when there is none
 * @param mostUser the thread with most of the rest
 */
public record KernelTime(
        Map<Integer, Long> byThread,
        long total,
        boolean estimated,
        @Nullable String mostKernel,
        @Nullable String mostUser) {
    private static final String CALLS = "raw_syscalls";

    /** With more than this share of a source's events lost, calls say less than samples. */
    private static final double TOLERATED = 0.01;

    /** The time in the kernel of the threads shown. */
    public static KernelTime of(ReportOperators found) {
        Map<Integer, Long> kernel = new HashMap<>();
        long sum = 0;
        for (int thread : found.shownThreads()) {
            long nanos = found.totals().kernelNanos(thread);
            kernel.put(thread, nanos);
            sum += nanos;
        }
        boolean lost = lostCalls(found);
        if (sum == 0 || lost) {
            Map<Integer, Long> sampled = bySamples(found);
            kernel.putAll(sampled);
            sum = kernel.values().stream().mapToLong(Long::longValue).sum();
            lost &= !sampled.isEmpty();
        }
        long mostKernel = 0;
        long mostUser = 0;
        String inKernel = null;
        String inUser = null;
        for (int thread : found.shownThreads()) {
            long nanos = kernel.getOrDefault(thread, 0L);
            long user = found.totals().nanos(thread, ThreadState.RUNNING) - nanos;
            if (nanos > mostKernel) {
                mostKernel = nanos;
                inKernel = found.threadName(thread);
            }
            if (user > mostUser) {
                mostUser = user;
                inUser = found.threadName(thread);
            }
        }
        return new KernelTime(kernel, sum, lost, inKernel, inUser);
    }

    /** Kernel time of a thread shown, nanoseconds. */
    public long of(int thread) {
        return byThread.getOrDefault(thread, 0L);
    }

    private static boolean lostCalls(ReportOperators found) {
        Map<String, Long> rows = new HashMap<>();
        Map<String, Boolean> hasCalls = new HashMap<>();
        for (TypeCount count : found.counts().counts()) {
            String source = count.source().name();
            rows.merge(source, count.rows(), Long::sum);
            hasCalls.merge(source, count.type().system().equals(CALLS), Boolean::logicalOr);
        }
        Map<String, Long> lost = new HashMap<>();
        for (Map.Entry<LossOrigin, LossTotal> entry : found.notices().sums().entrySet()) {
            if (entry.getKey().kind().equals("lost")) {
                lost.merge(entry.getKey().source(), entry.getValue().events(), Long::sum);
            }
        }
        return lost.entrySet().stream()
                .anyMatch(entry ->
                        hasCalls.getOrDefault(entry.getKey(), false)
                                && entry.getValue()
                                        > TOLERATED * rows.getOrDefault(entry.getKey(), 0L));
    }

    /** The time in the kernel by samples, for threads that have some. */
    private static Map<Integer, Long> bySamples(ReportOperators found) {
        Map<Integer, long[]> counts = new HashMap<>();
        found.samples()
                .forEach((thread, node, weight, count) -> {
                    if (thread >= 0 && found.shown(thread)) {
                        long[] two = counts.computeIfAbsent(thread, ignored -> new long[2]);
                        two[found.isKernel(node) ? 1 : 0] += count;
                    }
                });
        Map<Integer, Long> kernel = new HashMap<>();
        counts.forEach((thread, two) -> {
            double running = found.totals().nanos(thread, ThreadState.RUNNING);
            kernel.put(thread, (long) (running * two[1] / Math.max(two[0] + two[1], 1)));
        });
        return kernel;
    }
}
