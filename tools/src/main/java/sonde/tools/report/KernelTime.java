package sonde.tools.report;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.sched.ThreadState;

/**
 * How the time on the CPU divides into kernel and user: by system calls; by the share of samples
 * where no calls were recorded.
 *
 * @param total kernel time of all threads shown, nanoseconds
 * @param mostKernel the thread with most of it, null when there is none
 * @param mostUser the thread with most of the rest
 */
record KernelTime(long total, @Nullable String mostKernel, @Nullable String mostUser) {
    static KernelTime of(Findings found) {
        Map<Integer, Long> kernel = new HashMap<>();
        long sum = 0;
        for (int thread : found.shownThreads()) {
            long nanos = found.totals.kernelNanos(thread);
            kernel.put(thread, nanos);
            sum += nanos;
        }
        if (sum == 0) {
            sum = bySamples(found, kernel);
        }
        long mostKernel = 0;
        long mostUser = 0;
        String inKernel = null;
        String inUser = null;
        for (int thread : found.shownThreads()) {
            long nanos = kernel.getOrDefault(thread, 0L);
            long user = found.totals.nanos(thread, ThreadState.RUNNING) - nanos;
            if (nanos > mostKernel) {
                mostKernel = nanos;
                inKernel = found.threadName(thread);
            }
            if (user > mostUser) {
                mostUser = user;
                inUser = found.threadName(thread);
            }
        }
        return new KernelTime(sum, inKernel, inUser);
    }

    private static long bySamples(Findings found, Map<Integer, Long> kernel) {
        Map<Integer, long[]> counts = new HashMap<>();
        found.samples.forEach((thread, node, weight, count) -> {
            if (found.shown(thread)) {
                long[] two = counts.computeIfAbsent(thread, ignored -> new long[2]);
                two[found.isKernel(node) ? 1 : 0] += count;
            }
        });
        long sum = 0;
        for (Map.Entry<Integer, long[]> entry : counts.entrySet()) {
            long[] two = entry.getValue();
            double running = found.totals.nanos(entry.getKey(), ThreadState.RUNNING);
            long nanos = (long) (running * two[1] / Math.max(two[0] + two[1], 1));
            kernel.put(entry.getKey(), nanos);
            sum += nanos;
        }
        return sum;
    }
}
