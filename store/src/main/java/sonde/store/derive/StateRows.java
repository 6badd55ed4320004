package sonde.store.derive;

import java.util.Arrays;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import sonde.analysis.ThreadTable;
import sonde.analysis.sched.StateSlices;
import sonde.analysis.sched.ThreadState;
import sonde.analysis.sched.ThreadStates;

/** Writes {@code thread_state} and {@code sched} from the spans that reports add up. */
final class StateRows implements StateSlices {
    private final TraceNumbers target;
    private final ThreadTable threads;
    private final IntFunction<String> callName;
    private final @Nullable RowAppender states;
    private final @Nullable RowAppender sched;
    private long ids;

    // By thread: its last time on a CPU, until it is known what ended it; 0 long for none.
    private long[] since = new long[64];
    private long[] lasted = new long[64];
    private int[] cpus = new int[64];

    StateRows(
            TraceNumbers target,
            ThreadTable threads,
            IntFunction<String> callName,
            @Nullable RowAppender states,
            @Nullable RowAppender sched) {
        this.target = target;
        this.threads = threads;
        this.callName = callName;
        this.states = states;
        this.sched = sched;
    }

    /** As Perfetto and ps write them. */
    static String code(ThreadState state) {
        return switch (state) {
            case RUNNING -> "Running";
            case WAITING -> "R";
            case PREEMPTED -> "R+";
            case SLEEPING -> "S";
            case BLOCKED -> "D";
            case STOPPED -> "T";
            case UNKNOWN -> "unknown";
        };
    }

    @Override
    public boolean needsStacks() {
        return true;
    }

    @Override
    public void slice(ThreadStates from, int thread, ThreadState state, long start, long end) {
        if (threads.isRecorder(thread)) {
            return;
        }
        if (sched != null) {
            scheduled(from, thread, state, start, end);
        }
        if (states == null) {
            return;
        }
        boolean running = state == ThreadState.RUNNING;
        boolean off = !running && state != ThreadState.UNKNOWN;
        int waker = off && state != ThreadState.PREEMPTED ? from.waker(thread) : -1;
        int call = off ? from.call(thread) : -1;
        states.begin()
                .add(target.id(ids++))
                .add(start + target.shift())
                .add(end - start)
                .orNull(running ? from.cpu(thread) : -1)
                .add(target.utid(thread))
                .add(code(state))
                .orNull(waker < 0 ? -1 : target.utid(waker))
                .add(call < 0 ? null : callName.apply(call))
                .add(running ? Math.min(from.kernelNanos(thread), end - start) : 0)
                .orNull(off ? target.callsite(from.stack(thread)) : -1)
                .add(target.trace());
    }

    private void scheduled(ThreadStates from, int thread, ThreadState state, long start, long end) {
        if (thread >= since.length) {
            int capacity = Math.max(thread + 1, 2 * since.length);
            since = Arrays.copyOf(since, capacity);
            lasted = Arrays.copyOf(lasted, capacity);
            cpus = Arrays.copyOf(cpus, capacity);
        }
        write(thread, code(state));
        if (state == ThreadState.RUNNING) {
            since[thread] = start;
            lasted[thread] = end - start;
            cpus[thread] = from.cpu(thread);
        }
    }

    private void write(int thread, @Nullable String endState) {
        if (sched != null && lasted[thread] > 0) {
            sched.begin()
                    .add(target.id(ids++))
                    .add(since[thread] + target.shift())
                    .add(lasted[thread])
                    .orNull(cpus[thread])
                    .add(target.utid(thread))
                    .add(endState)
                    .add(target.trace());
            lasted[thread] = 0;
        }
    }

    /** Writes what still ran at the end. */
    void finish() {
        for (int thread = 0; thread < lasted.length; thread++) {
            write(thread, null);
        }
    }
}
