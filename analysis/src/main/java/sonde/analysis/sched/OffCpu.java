package sonde.analysis.sched;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Time off the CPU by what the thread did when it left: state, system call, call chain, waker. */
public final class OffCpu implements StateSlices {
    private final Map<OffCpuCause, OffCpuTotal> sums = new HashMap<>();

    /** Nothing yet. */
    public OffCpu() {}

    /**
     * Why a thread was off the CPU.
     *
     * @param call number of the system call, -1 for none
     * @param stack node of the chain at the switch-out, -1 for none
     * @param waker the thread that ended it, -1 for an interrupt or nobody
     */
    public record OffCpuCause(int thread, ThreadState state, int call, int stack, int waker) {
        /** The cause of the span that {@code states} hands out. */
        static OffCpuCause of(ThreadStates states, int thread, ThreadState state) {
            int waker = state == ThreadState.PREEMPTED ? -1 : states.waker(thread);
            return new OffCpuCause(thread, state, states.call(thread), states.stack(thread), waker);
        }
    }

    /** What a cause took. */
    public static final class OffCpuTotal {
        private long nanos;
        private long count;
        private long max;

        private OffCpuTotal() {}

        /** All together. */
        public long nanos() {
            return nanos;
        }

        /** How often. */
        public long count() {
            return count;
        }

        /** The longest. */
        public long max() {
            return max;
        }
    }

    /** A cause and what it took. */
    public record Entry(OffCpuCause cause, OffCpuTotal sum) {}

    @Override
    public boolean needsStacks() {
        return true;
    }

    @Override
    public void slice(ThreadStates states, int thread, ThreadState state, long from, long to) {
        if (state == ThreadState.RUNNING || state == ThreadState.UNKNOWN) {
            return;
        }
        OffCpuTotal sum =
                sums.computeIfAbsent(
                        OffCpuCause.of(states, thread, state), ignored -> new OffCpuTotal());
        sum.nanos += to - from;
        sum.count++;
        sum.max = Math.max(sum.max, to - from);
    }

    /** Every cause, longest first. */
    public List<Entry> entries() {
        List<Entry> result = new ArrayList<>();
        sums.forEach((cause, sum) -> result.add(new Entry(cause, sum)));
        result.sort((one, other) -> {
            int order = Long.compare(other.sum.nanos, one.sum.nanos);
            if (order == 0) {
                order = Integer.compare(one.cause.thread, other.cause.thread);
            }
            return order != 0 ? order : one.cause.state.compareTo(other.cause.state);
        });
        return result;
    }
}
