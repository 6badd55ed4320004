package sonde.probe.plan;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import sonde.recording.bundle.RecordingMeta.TargetMode;

/**
 * What the user asked for. Pure data.
 *
 * @param events of {@code -e}, beside the default set
 * @param without parts of the default set not wanted
 * @param frequencyHz CPU samples a second and CPU
 * @param limits of memory, time and place
 * @param traceDatOnly all events go to one trace.dat; what only perf has is left out
 * @param tracer whose events are recorded instead of the default set
 */
public record RecordSpec(
        TargetMode mode,
        List<AskedEvent> events,
        Set<Topic> without,
        int frequencyHz,
        CallGraph callGraph,
        RecordLimits limits,
        boolean traceDatOnly,
        TracerSpec tracer) {

    /** No multiple of the timer tick, so that samples do not follow it. */
    public static final int DEFAULT_FREQUENCY_HZ = 997;

    /**
     * Limits of a recording.
     *
     * @param ringBytes most kernel memory for all rings, 0 for the default limit
     * @param flightRecorder keep the end instead of the beginning when rings are full
     * @param durationNanos stop by itself after this, 0 for never
     * @param cpus to record, empty for all
     */
    public record RecordLimits(
            long ringBytes, boolean flightRecorder, long durationNanos, List<Integer> cpus) {
        /** No limits but the default ones. */
        public static final RecordLimits NONE = new RecordLimits(0, false, 0, List.of());

        public RecordLimits {
            cpus = List.copyOf(cpus);
            if (ringBytes < 0 || durationNanos < 0) {
                throw new IllegalArgumentException("negative limit");
            }
        }
    }

    public RecordSpec {
        events = List.copyOf(events);
        without = Set.copyOf(without);
        if (frequencyHz < 1) {
            throw new IllegalArgumentException("frequency " + frequencyHz + " Hz");
        }
    }

    /** The default recording. */
    public static RecordSpec of(TargetMode mode) {
        return new RecordSpec(
                mode,
                List.of(),
                Set.of(),
                DEFAULT_FREQUENCY_HZ,
                CallGraph.BPF,
                RecordLimits.NONE,
                false,
                TracerSpec.NONE);
    }

    /** Whether that part of the default set is wanted. */
    public boolean wants(Topic topic) {
        return !without.contains(topic);
    }

    /** Whether the end is kept instead of the beginning when rings are full. */
    public boolean flightRecorder() {
        return limits.flightRecorder();
    }

    /** This with more events. */
    public RecordSpec withEvents(List<String> more) {
        return asking(more.stream().map(AskedEvent::of).toList());
    }

    /** This with more events. */
    public RecordSpec asking(List<AskedEvent> more) {
        List<AskedEvent> all = new ArrayList<>(events);
        all.addAll(more);
        return new RecordSpec(
                mode, all, without, frequencyHz, callGraph, limits, traceDatOnly, tracer);
    }

    /** This without those topics. */
    public RecordSpec leavingOut(Topic... topics) {
        Set<Topic> all = EnumSet.noneOf(Topic.class);
        all.addAll(without);
        all.addAll(List.of(topics));
        return new RecordSpec(
                mode, events, all, frequencyHz, callGraph, limits, traceDatOnly, tracer);
    }

    /** This with other limits. */
    public RecordSpec within(RecordLimits other) {
        return new RecordSpec(
                mode, events, without, frequencyHz, callGraph, other, traceDatOnly, tracer);
    }

    /** This with user stacks made in another way. */
    public RecordSpec unwinding(CallGraph other) {
        return new RecordSpec(
                mode, events, without, frequencyHz, other, limits, traceDatOnly, tracer);
    }

    /** This with another limit of ring memory. */
    public RecordSpec withRingLimit(long sizeBytes) {
        return within(
                new RecordLimits(
                        sizeBytes, flightRecorder(), limits.durationNanos(), limits.cpus()));
    }

    /** This as a flight recorder. */
    public RecordSpec keepingTheEnd() {
        return within(
                new RecordLimits(limits.ringBytes(), true, limits.durationNanos(), limits.cpus()));
    }

    /** This into one trace.dat. */
    public RecordSpec intoTraceDat() {
        return new RecordSpec(mode, events, without, frequencyHz, callGraph, limits, true, tracer);
    }

    /** This with a tracer's events instead of the default set. */
    public RecordSpec tracing(TracerSpec other) {
        return new RecordSpec(
                mode, events, without, frequencyHz, callGraph, limits, traceDatOnly, other);
    }
}
