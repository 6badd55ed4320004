package sonde.probe.perf;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Names of threads as comm and fork records told them: the latest one of each, which a thread that
 * never had its own inherits from its maker. The kernel itself remembers 128 (saved_cmdlines).
 *
 * <p>Rings of different CPUs are read one after the other, so records come out of order: each name
 * has its time.
 */
public final class LatestComms {
    /** pid_max of a 64-bit kernel is 4 Mi; a fork bomb may not cost more memory than this. */
    private static final int MAX_THREADS = 1 << 18;

    private final Map<Integer, TimedName> names = new HashMap<>();
    private final Map<Integer, Long> firstExecs = new HashMap<>();

    private record TimedName(long time, String comm) {}

    /** No names yet. */
    public LatestComms() {}

    /** A thread got a name at that time. */
    public void named(int tid, String comm, long time) {
        TimedName known = names.get(tid);
        boolean fits = known != null || names.size() < MAX_THREADS;
        if (fits && (known == null || known.time() <= time)) {
            names.put(tid, new TimedName(time, comm.replace('\n', ' ')));
        }
    }

    /** A thread began to run another program at that time. */
    public void executed(int tid, long time) {
        if (firstExecs.size() < MAX_THREADS) {
            firstExecs.merge(tid, time, Math::min);
        }
    }

    /** When a thread ran another program for the first time. */
    public OptionalLong firstExec(int tid) {
        Long time = firstExecs.get(tid);
        return time == null ? OptionalLong.empty() : OptionalLong.of(time);
    }

    /** A thread was made at that time; its number may have been another's before. */
    public void forked(int tid, int parentTid, long time) {
        TimedName parent = names.get(parentTid);
        if (parent != null) {
            named(tid, parent.comm(), time);
        }
    }

    /** Threads that records of the recording itself told of, not what was there before. */
    public List<Integer> told() {
        return names.entrySet().stream()
                .filter(one -> one.getValue().time() > 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** All names. */
    public Map<Integer, String> byTid() {
        Map<Integer, String> comms = new HashMap<>();
        names.forEach((tid, name) -> comms.put(tid, name.comm()));
        return comms;
    }
}
