package sonde.probe.plan;

import java.util.List;
import java.util.Set;

/**
 * A buffer of trace.dat: one tracefs instance.
 *
 * @param name of the BUFFER option: empty for the first
 * @param events {@code system:name}, sorted
 * @param targetOnly whether only events in the context of the target are taken (set_event_pid)
 * @param bytesPerCpu ring size
 */
public record TraceBuffer(String name, List<String> events, boolean targetOnly, long bytesPerCpu) {
    /** The buffer of what happens outside the target's context: completions, interrupts. */
    public static final String OUTSIDE = "outside";

    public TraceBuffer {
        events = List.copyOf(events);
    }

    /** This without some events. */
    TraceBuffer without(Set<String> absent) {
        List<String> rest = events.stream().filter(event -> !absent.contains(event)).toList();
        return new TraceBuffer(name, rest, targetOnly, bytesPerCpu);
    }

    /** A word for file names: {@code "task"} for the first. */
    public String word() {
        return name.isEmpty() ? "task" : name;
    }
}
