package sonde.analysis.sched;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.analysis.LogLinear;

/**
 * From wake-up to running: how long each thread waited for a CPU, and who woke whom. The time of
 * threads that were preempted is not in here: nobody woke them.
 */
public final class WakeUps implements StateSlices {
    private @Nullable LogLinear[] latency = new LogLinear[64];
    private final Map<Long, LogLinear> edges = new HashMap<>();

    /** Nothing yet. */
    public WakeUps() {}

    /**
     * Who woke whom.
     *
     * @param waker number of a thread, -1 for an interrupt
     * @param woken number of a thread
     * @param latency from wake-up to running
     */
    public record Edge(int waker, int woken, LogLinear latency) {}

    @Override
    public void slice(ThreadStates states, int thread, ThreadState state, long from, long to) {
        if (state != ThreadState.WAITING) {
            return;
        }
        if (thread >= latency.length) {
            latency = Arrays.copyOf(latency, Math.max(thread + 1, 2 * latency.length));
        }
        LogLinear known = latency[thread];
        if (known == null) {
            known = new LogLinear();
            latency[thread] = known;
        }
        known.add(to - from);
        long key = (long) states.waker(thread) << 32 | thread;
        edges.computeIfAbsent(key, ignored -> new LogLinear()).add(to - from);
    }

    /** The waits of a thread, null when it had none. */
    public @Nullable LogLinear latency(int thread) {
        return thread < latency.length ? latency[thread] : null;
    }

    /** All edges, most frequent first. */
    public List<Edge> edges() {
        List<Edge> result = new ArrayList<>();
        edges.forEach(
                (key, waits) -> result.add(new Edge((int) (key >> 32), key.intValue(), waits)));
        result.sort((one, other) -> {
            int order = Long.compare(other.latency.count(), one.latency.count());
            if (order == 0) {
                order = Integer.compare(one.woken, other.woken);
            }
            return order != 0 ? order : Integer.compare(one.waker, other.waker);
        });
        return result;
    }
}
