package sonde.recording.perfdata;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;

/**
 * What a perf.data says about its making. Empty where it says nothing.
 *
 * @param version of the recorder
 * @param cpusAvailable processors configured, 0 when unknown
 * @param cpusOnline processors online, 0 when unknown
 * @param commandLine of the recorder, program first
 * @param eventNames EVENT_DESC: attrs, ids and names
 * @param clockResolutionNanos CLOCKID: resolution of the clock of the samples
 * @param machine the other features
 * @param present numbers of all features that the file has, HEADER_*
 */
public record RecordedFeatures(
        String hostname,
        String osRelease,
        String version,
        String arch,
        int cpusAvailable,
        int cpusOnline,
        String cpuDescription,
        List<String> commandLine,
        List<AttrEntry> eventNames,
        List<BuildId> buildIds,
        Optional<TracingData> tracingData,
        Optional<SampleTimes> sampleTime,
        OptionalLong clockResolutionNanos,
        Optional<ClockData> clockData,
        MachineFeatures machine,
        SortedSet<Integer> present) {

    /** Times of the first and the last sample in the clock of the samples. */
    public record SampleTimes(long first, long last) {}

    /**
     * One moment in two clocks.
     *
     * @param clockid CLOCK_* of the samples
     * @param wallNanos CLOCK_REALTIME
     * @param clockNanos that clock
     */
    public record ClockData(int clockid, long wallNanos, long clockNanos) {}

    public RecordedFeatures {
        commandLine = List.copyOf(commandLine);
        eventNames = List.copyOf(eventNames);
        buildIds = List.copyOf(buildIds);
    }
}
