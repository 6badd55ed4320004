package sonde.tools.report.answer;

import java.util.List;
import java.util.Map;

/**
 * What a recording shows of the threads that count, as rules need it. Kernel threads are left out.
 *
 * @param wallNanos length of the recording as these threads saw it
 * @param cpuNanos their time on CPUs
 * @param estimated whether times are estimates from samples
 * @param groups most time on CPUs first
 * @param cpu where CPU samples were, heaviest first
 * @param waits longest first
 */
public record Evidence(
        long wallNanos,
        long cpuNanos,
        boolean estimated,
        List<ThreadGroup> groups,
        List<CpuUse> cpu,
        List<WaitSum> waits) {
    /**
     * Threads of one process with the same name but for numbers.
     *
     * @param name of all, or of the only one
     * @param tid of the only one, 0 where there are several
     * @param wallNanos sum of their lives in the recording
     * @param runningNanos on CPUs
     * @param runnableNanos waiting for a CPU, or preempted
     */
    record ThreadGroup(
            String name,
            int pid,
            int tid,
            int threads,
            long wallNanos,
            long runningNanos,
            long runnableNanos) {
        /** {@code worker 4711}, {@code the 4 threads worker}. */
        String shown() {
            return threads == 1 ? name + " " + tid : "the " + threads + " threads " + name;
        }
    }

    /**
     * Samples of a group in one place.
     *
     * @param share of all samples that count
     * @param kernelShare the part of these samples in the kernel, 0 to 1
     * @param calls the system calls in which these were, most first
     */
    record CpuUse(
            ThreadGroup group,
            ProgramPlace place,
            double share,
            long samples,
            double kernelShare,
            List<String> calls) {}

    /**
     * Time off the CPU of a group, by call and place.
     *
     * @param call system call or kernel function, empty when unknown
     * @param object file, peer or whatever it waited for, empty when unknown
     * @param wakers who ended it, by name, with the time that they ended; {@code interrupt} for a
     *     timer or device
     */
    record WaitSum(
            ThreadGroup group,
            String state,
            String call,
            String object,
            ProgramPlace place,
            Map<String, Long> wakers,
            long nanos,
            long count,
            long longest) {}
}
