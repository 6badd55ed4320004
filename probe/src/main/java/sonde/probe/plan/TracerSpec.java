package sonde.probe.plan;

import java.util.List;

/**
 * One of ftrace's tracers, and what is written into files of tracefs before it is set.
 *
 * @param name as {@code available_tracers} has it; empty for none
 * @param settings in the order in which they are written
 */
public record TracerSpec(String name, List<Setting> settings) {
    /** Events alone. */
    public static final TracerSpec NONE = new TracerSpec("", List.of());

    /**
     * A value of a file.
     *
     * @param file under the instance or, where that has none, under the root of tracefs
     * @param value one line
     * @param meaning what the user wrote, for messages
     */
    public record Setting(String file, String value, String meaning) {}

    public TracerSpec {
        settings = List.copyOf(settings);
    }

    /** Whether there is one. */
    public boolean isSet() {
        return !name.isEmpty();
    }
}
