package sonde.tools.heap;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.probe.heap.AllocatorCall;
import sonde.probe.heap.HeapProbes.HeapLimits;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.symbol.files.GivenPlaces;

/**
 * What is watched.
 *
 * @param command null for a running process
 * @param pid the running process; 0 for a command
 * @param nanos after which the watch ends; {@link Long#MAX_VALUE} for no end
 * @param sampling null where probes see every call
 * @param own functions that allocate and free, besides those of C
 */
record HeapRequest(
        InheritedState origin,
        @Nullable CommandWords command,
        int pid,
        long nanos,
        @Nullable Sampling sampling,
        Map<String, AllocatorCall> own,
        HeapLimits limits,
        GivenPlaces places) {
    /**
     * How a library in the process samples.
     *
     * @param interval bytes between two samples on average; 1 for every block
     */
    record Sampling(Path library, long interval) {}
}
