package sonde.tools.leaks;

import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.symbol.files.GivenPlaces;

/**
 * What {@code sonde leaks} is to do.
 *
 * @param alloc the command that allocates; null to watch for a time
 * @param shown the command that allocates, as the user wrote it
 * @param free the command that is to free it; null for none
 * @param pid a process that is watched; 0 for none
 * @param watch whether growth of the whole machine is looked for
 * @param nanos how long it watches without a command
 * @param settleNanos how long it waits for frees that come late
 * @param allTasks whether allocations of all tasks count
 * @param pages whether whole pages count
 * @param mostObjects that can be live at a time; 0 for what fits the machine
 */
record LeaksRequest(
        @Nullable CommandWords alloc,
        String shown,
        @Nullable CommandWords free,
        int pid,
        boolean watch,
        long nanos,
        long settleNanos,
        boolean allTasks,
        boolean pages,
        int mostObjects,
        LeakFilter filter,
        GivenPlaces places,
        InheritedState origin) {
    /** Whether allocations of other tasks than those of the commands are kept. */
    boolean watchesAll() {
        return allTasks || watch || !filter.isEmpty();
    }
}
