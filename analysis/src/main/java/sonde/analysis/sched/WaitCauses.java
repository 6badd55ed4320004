package sonde.analysis.sched;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What those who ended waits did meanwhile: who holds a lock, or is at the other end of a pipe, and
 * why it took its time. Where the waker waited itself for a lock, the time goes to who ended that.
 */
public final class WaitCauses implements StateSlices {
    /** Spans of a thread that are remembered; longer ago nobody asks. */
    private static final int SPANS = 64;

    /** Wakers behind wakers that are followed. */
    private static final int MAX_CHAIN = 8;

    /** Distinct causes kept; time of what comes after is nobody's. */
    private static final int MAX_CAUSES = 50_000;

    private final Set<Integer> lockCalls;
    private final Map<WaitCause, long[]> sums = new HashMap<>();
    private @Nullable Spans[] recent = new Spans[64];

    /**
     * @param lockCalls numbers of the calls in which threads wait for locks
     */
    public WaitCauses(Set<Integer> lockCalls) {
        this.lockCalls = Set.copyOf(lockCalls);
    }

    /**
     * Why a thread waited.
     *
     * @param thread who waited
     * @param call in which, -1 for none
     * @param holder who ended it in the end
     * @param state what that thread was in meanwhile
     * @param holderCall its system call, -1 for none
     * @param holderStack its chain when it left the CPU, -1 for none
     */
    public record WaitCause(
            int thread, int call, int holder, ThreadState state, int holderCall, int holderStack) {}

    /** Takes sums. */
    @FunctionalInterface
    public interface Sink {
        /** A cause took so long. */
        void cause(WaitCause cause, long nanos);
    }

    /** A ring of the latest spans off the CPU. */
    private static final class Spans {
        final long[] from = new long[SPANS];
        final long[] to = new long[SPANS];
        final int[] call = new int[SPANS];
        final int[] stack = new int[SPANS];
        final int[] waker = new int[SPANS];
        final ThreadState[] state = new ThreadState[SPANS];
        int next;
        int size;
    }

    @Override
    public boolean needsStacks() {
        return true;
    }

    @Override
    public void slice(ThreadStates states, int thread, ThreadState state, long from, long to) {
        if (state == ThreadState.RUNNING || state == ThreadState.UNKNOWN) {
            return;
        }
        int waker = state == ThreadState.PREEMPTED ? -1 : states.waker(thread);
        boolean waits = state == ThreadState.SLEEPING || state == ThreadState.BLOCKED;
        if (waits && waker >= 0) {
            charge(thread, states.call(thread), from, to, waker, 0);
        }
        if (thread >= recent.length) {
            recent = Arrays.copyOf(recent, Math.max(thread + 1, 2 * recent.length));
        }
        Spans spans = recent[thread];
        if (spans == null) {
            spans = new Spans();
            recent[thread] = spans;
        }
        int at = spans.next;
        spans.from[at] = from;
        spans.to[at] = to;
        spans.call[at] = states.call(thread);
        spans.stack[at] = states.stack(thread);
        spans.waker[at] = waker;
        spans.state[at] = state;
        spans.next = (at + 1) % SPANS;
        spans.size = Math.min(spans.size + 1, SPANS);
    }

    private void charge(int thread, int call, long from, long to, int holder, int depth) {
        Spans spans = holder < recent.length ? recent[holder] : null;
        // What is known of the holder: nothing before the oldest span that is remembered.
        long known = from;
        long off = 0;
        for (int age = 1; spans != null && age <= spans.size; age++) {
            int i = (spans.next - age + SPANS) % SPANS;
            long start = Math.max(from, spans.from[i]);
            long end = Math.min(to, spans.to[i]);
            if (age == SPANS) {
                known = start;
            }
            if (start >= end) {
                if (spans.to[i] <= from) {
                    break;
                }
                continue;
            }
            off += end - start;
            int next = spans.waker[i];
            boolean waitsForLock = spans.call[i] >= 0 && lockCalls.contains(spans.call[i]);
            if (waitsForLock && next >= 0 && next != thread && depth < MAX_CHAIN) {
                charge(thread, call, start, end, next, depth + 1);
            } else {
                ThreadState state = spans.state[i];
                int stack = spans.stack[i];
                add(new WaitCause(thread, call, holder, state, spans.call[i], stack), end - start);
            }
        }
        if (to - known > off) {
            add(new WaitCause(thread, call, holder, ThreadState.RUNNING, -1, -1), to - known - off);
        }
    }

    private void add(WaitCause cause, long nanos) {
        long[] sum = sums.get(cause);
        if (sum == null && sums.size() < MAX_CAUSES) {
            sum = new long[1];
            sums.put(cause, sum);
        }
        if (sum != null) {
            sum[0] += nanos;
        }
    }

    /** Hands out every cause, in no order. */
    public void forEach(Sink sink) {
        sums.forEach((cause, nanos) -> sink.cause(cause, nanos[0]));
    }
}
