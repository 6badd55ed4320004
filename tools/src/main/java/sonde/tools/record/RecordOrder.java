package sonde.tools.record;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.LiveResult;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.ReadyDescriptor;
import sonde.probe.plan.RecordSpec;

/**
 * What the user ordered.
 *
 * @param version of sonde, for the files
 * @param origin what this process was given at its start and the command is to get
 * @param command to start, null for {@code -p} and {@code -a}
 * @param pids processes to follow, for {@code -p}
 * @param user whose processes are followed, a name or a number; null for nobody's
 * @param name of the bundle without {@code .sonde}, with or without a path; null to choose one
 * @param jvm which JVMs are asked for their compiled code
 * @param live shows the events while they are recorded, or null
 * @param ready written to once every event source is armed, or null
 */
public record RecordOrder(
        RecordSpec spec,
        String version,
        InheritedState origin,
        @Nullable CommandWords command,
        List<Integer> pids,
        @Nullable String user,
        @Nullable String name,
        JvmMaps jvm,
        @Nullable LiveView live,
        @Nullable ReadyDescriptor ready) {
    public RecordOrder {
        pids = List.copyOf(pids);
    }

    /** Shows a result that changes, until it has ended. */
    @FunctionalInterface
    public interface LiveView {
        /** Shows the ticks, on the calling thread. */
        void show(LiveResult live) throws IOException;
    }

    /** Which JVMs are asked for a map of their compiled code. */
    public enum JvmMaps {
        /** None. */
        NONE,
        /** Those among the recorded processes, while they run. */
        TARGETS,
        /** As {@link #TARGETS}, and the command's JVMs write a last map when they end. */
        AT_EXIT
    }
}
