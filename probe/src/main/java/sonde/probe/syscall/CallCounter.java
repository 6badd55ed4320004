package sonde.probe.syscall;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntToLongFunction;
import sonde.bpf.BpfMap;
import sonde.bpf.MapType;
import sonde.bpf.TaskTree;
import sonde.recording.syscall.CallTable;
import sonde.sys.SyscallException;

/** Counts the system calls of some processes in the kernel: no record leaves it. */
public final class CallCounter implements CallSource {
    private final FollowedCalls programs;
    private final BpfMap counts;

    /**
     * The sums of a call.
     *
     * @param number as {@link sonde.recording.syscall.CallRecord#number}
     * @param nanos from begin to end, of all together
     */
    public record CountedCall(
            long number, long calls, long errors, long nanos, long least, long most) {}

    private CallCounter(Set<Integer> pids, boolean follow) throws IOException {
        programs = new FollowedCalls(follow, CountCode.MEMBER_BYTES);
        try {
            counts =
                    programs.map(
                            "sonde_counts",
                            MapType.PER_CPU_ARRAY,
                            4,
                            CountCode.SUM_BYTES,
                            CountCode.SUMS);
            FollowedCalls.TaskFields fields = programs.fields();
            CountCode code = new CountCode(programs.tree(), counts, fields);
            programs.attach("sched_process_exit", code.end());
            programs.attach("sched_process_exec", code.executed());
            if (follow) {
                programs.attach("sched_process_fork", code.forked());
            }
            programs.follow(pids);
            programs.attach("sys_exit", code.leave());
            programs.attach("sys_enter", code.enter());
        } catch (IOException e) {
            programs.close();
            throw e;
        }
    }

    /**
     * Attaches.
     *
     * @param follow whether descendants and all threads are counted, too
     * @throws sonde.bpf.BpfRefusedException when this user or kernel may not
     */
    public static CallCounter open(Set<Integer> pids, boolean follow) throws IOException {
        return new CallCounter(pids, follow);
    }

    /** Counts the calls of a process from its next execve on. */
    @Override
    public void follow(int pid) throws SyscallException {
        programs.follow(pid, TaskTree.NEW_MEMBER | CountCode.WAITS_FOR_EXEC);
    }

    @Override
    public boolean isAlone() throws SyscallException {
        return programs.isAlone();
    }

    /** The sums so far. */
    public List<CountedCall> sums() throws SyscallException {
        return sums(
                counts,
                index ->
                        index <= CallTable.CALLS
                                ? index
                                : CallTable.compat(index - CallTable.CALLS - 1));
    }

    /** The sums of a map, by the numbers that its keys mean. */
    static List<CountedCall> sums(BpfMap counts, IntToLongFunction numbers)
            throws SyscallException {
        List<CountedCall> sums = new ArrayList<>();
        counts.forEach((key, value) -> {
            int index = key.get(JAVA_INT, 0);
            long[] all = new long[5];
            for (long at = 0; at < counts.valueBytes(); at += CountCode.SUM_BYTES) {
                long calls = value.get(JAVA_LONG, at);
                long least = value.get(JAVA_LONG, at + 24);
                if (calls != 0) {
                    all[3] = all[0] == 0 ? least : Math.min(all[3], least);
                    all[0] += calls;
                    all[1] += value.get(JAVA_LONG, at + 8);
                    all[2] += value.get(JAVA_LONG, at + 16);
                    all[4] = Math.max(all[4], value.get(JAVA_LONG, at + 32));
                }
            }
            if (all[0] != 0) {
                long number = numbers.applyAsLong(index);
                sums.add(new CountedCall(number, all[0], all[1], all[2], all[3], all[4]));
            }
        });
        return sums;
    }

    /** Detaches; nothing stays in the kernel. */
    @Override
    public void close() {
        programs.close();
    }
}
