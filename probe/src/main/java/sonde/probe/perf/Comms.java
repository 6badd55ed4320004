package sonde.probe.perf;

import java.util.HashMap;
import java.util.Map;

/**
 * Names of threads as comm and fork records told them: the last one of each, which a thread that
 * never had its own inherits from its maker. The kernel itself remembers 128 (saved_cmdlines).
 */
public final class Comms {
    /** pid_max of a 64-bit kernel is 4 Mi; a fork bomb may not cost more memory than this. */
    private static final int MAX_THREADS = 1 << 18;

    private final Map<Integer, String> names = new HashMap<>();

    /** No names yet. */
    public Comms() {}

    /** A thread got a name. */
    public void named(int tid, String comm) {
        if (names.size() < MAX_THREADS || names.containsKey(tid)) {
            names.put(tid, comm.replace('\n', ' '));
        }
    }

    /** A thread was made; its pid may have been another's before. */
    public void forked(int tid, int parentTid) {
        String comm = names.get(parentTid);
        if (comm != null) {
            named(tid, comm);
        }
    }

    /** All names. */
    public Map<Integer, String> byTid() {
        return Map.copyOf(names);
    }
}
