package sonde.probe.perf;

import java.util.List;

/**
 * The tasks whose events are counted.
 *
 * @param tids threads to which events are bound and whose children inherit them; empty for all
 *     tasks of the machine
 * @param ownTids threads of this process: switches between them and idle are left out when all
 *     tasks are counted
 * @param roots processes whose descendants and themselves may have their stacks copied; empty for
 *     all processes
 */
public record CountedTasks(List<Integer> tids, List<Integer> ownTids, List<Integer> roots) {
    public CountedTasks {
        roots = List.copyOf(roots);
        tids = List.copyOf(tids);
        ownTids = List.copyOf(ownTids);
    }

    /** Whether the events are not bound to tasks. */
    public boolean isSystemWide() {
        return tids.isEmpty();
    }
}
