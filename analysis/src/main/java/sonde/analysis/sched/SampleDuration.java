package sonde.analysis.sched;

import java.util.List;
import sonde.event.EventType;
import sonde.event.Recording;

/**
 * How much time a sample of what runs stands for.
 *
 * @param weightIsNanos whether weights are times, as those of clocks are
 * @param nanos from one sample to the next as the recorder was told, 0 when nothing tells
 */
public record SampleDuration(boolean weightIsNanos, long nanos) {
    /**
     * @param types of which there are rows
     */
    public static SampleDuration of(List<Recording> recordings, List<EventType> types) {
        boolean clock =
                types.stream()
                        .filter(type -> type.system().equals("perf"))
                        .map(EventType::name)
                        .anyMatch(name ->
                                name.startsWith("cpu-clock") || name.startsWith("task-clock"));
        long nanos = recordings.stream().mapToLong(Recording::sampleNanos).max().orElse(0);
        return new SampleDuration(clock, nanos);
    }
}
