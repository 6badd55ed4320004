package sonde.tools.report.answer;

import java.util.List;
import java.util.Map;
import sonde.recording.bundle.RecordingMeta.TargetReading;

/**
 * What a recording shows of the threads that count, as rules need it. Kernel threads are left out.
 *
 * @param wallNanos length of the recording as these threads saw it
 * @param groups most time on CPUs first
 * @param cpu where CPU samples were, heaviest first
 * @param shared memory that several threads used at once, most CPU time first
 * @param waits longest first
 * @param calls most CPU time first
 * @param starts programs and processes started, most first
 * @param threadStarts threads started beside the first of a process, most first
 * @param signals most first
 * @param deaths processes that a signal ended, in order
 * @param faults places of page faults, most first
 * @param descriptors of processes that opened more than they closed, most first
 * @param counters what the recorder read from /proc and cgroups
 * @param cpus how many the machine has, 0 when unknown
 * @param faultShare the part of all CPU samples that was in page faults
 * @param machine whether the threads are those of a whole machine, most of them idle by design
 * @param failures names that could not be opened, executed or connected to, most first
 */
public record Evidence(
        long wallNanos,
        List<ThreadGroup> groups,
        List<CpuUse> cpu,
        List<SharedSum> shared,
        List<WaitSum> waits,
        List<CallSum> calls,
        List<StartSum> starts,
        List<StartSum> threadStarts,
        List<SignalSum> signals,
        List<DeathSum> deaths,
        List<FaultSum> faults,
        List<DescriptorSum> descriptors,
        List<FailureSum> failures,
        List<TargetReading> counters,
        int cpus,
        double faultShare,
        boolean machine) {
    /**
     * Threads with the same name but for numbers.
     *
     * @param name of all, or of the only one
     * @param tid of the only one, 0 where there are several
     * @param wallNanos sum of their lives in the recording
     * @param runningNanos on CPUs
     * @param runnableNanos waiting for a CPU, or preempted
     */
    record ThreadGroup(
            String name,
            int tid,
            int threads,
            int processes,
            long wallNanos,
            long runningNanos,
            long runnableNanos) {
        /** {@code worker 4711}, {@code the 4 worker threads}. */
        String shown() {
            if (threads == 1) {
                return name + " " + tid;
            }
            return processes > 1
                    ? "the " + processes + " " + name + " processes"
                    : "the " + threads + " " + name + " threads";
        }
    }

    /**
     * Samples of a group in one place.
     *
     * @param share of all samples that count
     * @param kernelShare the part of these samples in the kernel, 0 to 1
     * @param calls the system calls in which these were, most first
     * @param leaf the functions of a library or run time in which most of them were, called from
     *     the program's; empty where the program's own code took the time
     */
    record CpuUse(
            ThreadGroup group,
            ProgramPlace place,
            double share,
            long samples,
            double kernelShare,
            List<String> calls,
            String leaf) {}

    /**
     * Samples beside accesses of several threads to memory that one of them writes.
     *
     * @param group of most of them
     * @param threads of one process
     * @param share of all samples that count
     * @param instruction the atomic one; empty for plain accesses
     * @param variables in the one cache line; empty where registers hold the address, so that each
     *     thread may have its own
     */
    record SharedSum(
            ThreadGroup group,
            ProgramPlace place,
            int threads,
            double share,
            String instruction,
            List<String> variables) {}

    /**
     * Time off the CPU of a group, by call and place.
     *
     * @param call system call, empty when none or unknown
     * @param reason what the kernel did in it, empty when it says no more than the call
     * @param object file, peer or whatever it waited for, empty when unknown
     * @param meanwhile who held it up and what that thread did, empty when unknown
     * @param wakers who ended it, by name, with the time that they ended; {@code interrupt} for a
     *     timer or device
     * @param amongThemselves whether threads of the group itself ended most of it
     */
    record WaitSum(
            ThreadGroup group,
            String state,
            String call,
            String reason,
            String object,
            ProgramPlace place,
            String meanwhile,
            Map<String, Long> wakers,
            boolean amongThemselves,
            long nanos,
            long count,
            long longest) {
        /** The waker of most of it; empty when nobody, an interrupt or many. */
        String waker() {
            return wakers.entrySet().stream()
                    .max(Map.Entry.comparingByValue())
                    .filter(most -> most.getValue() > nanos / 2)
                    .map(Map.Entry::getKey)
                    .filter(name -> !name.equals(INTERRUPT))
                    .orElse("");
        }
    }

    /** Stands for a timer or device that ended a wait. */
    static final String INTERRUPT = "interrupt";

    /**
     * Calls of one number by a group; where one file or peer has most of them, those alone.
     *
     * @param nanos from entry to return, waiting included
     * @param median of these times
     * @param errors how many failed, by the error's name
     * @param object file or peer of most of them, empty when none
     * @param bytes that they moved
     * @param cpuShare the part of all CPU samples in them
     * @param place of most of them, as samples and waits tell
     */
    record CallSum(
            ThreadGroup group,
            String call,
            long count,
            long nanos,
            long median,
            Map<String, Long> errors,
            String object,
            long bytes,
            double cpuShare,
            ProgramPlace place) {
        /** Calls of which only the CPU time is known; their name is empty. */
        static CallSum nameless(ThreadGroup group, ProgramPlace place, double cpuShare) {
            return new CallSum(group, "", 0, 0, 0, Map.of(), "", 0, cpuShare, place);
        }

        /** With more CPU time. */
        CallSum with(double more) {
            double share = cpuShare + more;
            return new CallSum(
                    group, call, count, nanos, median, errors, object, bytes, share, place);
        }
    }

    /**
     * Processes that began in the recording.
     *
     * @param name of the program at its end
     * @param parent name and process of who started most of them
     * @param nanos sum of their lives
     * @param cpuNanos on CPUs
     * @param ended how many ended
     * @param reaped for how many the parent waited; all that ended where waits are not recorded
     * @param spread in how many tenths of the recording any began
     */
    record StartSum(
            String name,
            String parent,
            long count,
            long nanos,
            long cpuNanos,
            long ended,
            long reaped,
            int spread) {}

    /** Signals of one name to a group. */
    record SignalSum(String receiver, String sender, String signal, long count) {}

    /**
     * Processes of one name that a signal ended.
     *
     * @param process its name and number; the name alone where there are several
     * @param sender who sent it; empty when it is the process itself, or unknown
     * @param place where it was when it sent the signal itself
     * @param object what the call was about that sent it; empty when unknown
     * @param reason why the kernel sent it; empty when the signal says it all
     */
    record DeathSum(
            String process,
            String signal,
            String sender,
            ProgramPlace place,
            String object,
            String reason,
            long count) {
        /** As one of this name, or so many. */
        DeathSum times(long times, String single) {
            String name = times == 1 ? single : process;
            return new DeathSum(name, signal, sender, place, object, reason, times);
        }
    }

    /** Page faults of a group in one place. */
    record FaultSum(ThreadGroup group, ProgramPlace place, long count) {}

    /**
     * Descriptors of a process.
     *
     * @param most how many of those opened were open at once
     * @param names what most of those opened stand for, most first, with counts
     */
    record DescriptorSum(String process, long opened, long closed, long most, List<String> names) {}

    /** Names under one folder, or one peer, that failed with one error. */
    record FailureSum(String name, String error, long count, long names) {
        /** What a connect fails with that goes on; here, after which no byte was moved. */
        static final String SILENT = "EINPROGRESS";

        /** The name, and how many it stands for. */
        String shown() {
            return name + (names > 1 ? " (" + AnswerWording.count(names) + " names)" : "");
        }
    }

    /** Nanoseconds on CPUs. */
    long cpuNanos() {
        return groups.stream().mapToLong(ThreadGroup::runningNanos).sum();
    }

    /** Nanoseconds ready to run without a CPU. */
    long runnableNanos() {
        return groups.stream().mapToLong(ThreadGroup::runnableNanos).sum();
    }

    /** A part of the time of a group as a part of the recording. */
    double part(ThreadGroup group, double nanos) {
        return nanos / Math.max(1, Math.max(wallNanos, group.wallNanos()));
    }

    /** So many in a second. */
    double rate(long count) {
        return count * 1e9 / Math.max(1, wallNanos);
    }
}
