package sonde.probe.plan;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import sonde.recording.bundle.RecordingMeta.TargetMode;

/**
 * What the user asked for. Pure data.
 *
 * @param events names and globs of {@code -e}, beside the default set
 * @param without parts of the default set not wanted
 * @param frequencyHz CPU samples a second and CPU
 * @param ringLimitBytes most kernel memory for all rings, 0 for the default limit
 * @param flightRecorder keep the end instead of the beginning when rings are full
 * @param durationNanos stop by itself after this, 0 for never
 */
public record RecordSpec(
        TargetMode mode,
        List<String> events,
        Set<Topic> without,
        int frequencyHz,
        CallGraph callGraph,
        long ringLimitBytes,
        boolean flightRecorder,
        long durationNanos) {

    /** No multiple of the timer tick, so that samples do not follow it. */
    public static final int DEFAULT_FREQUENCY_HZ = 997;

    public RecordSpec {
        events = List.copyOf(events);
        without = Set.copyOf(without);
        if (frequencyHz < 1) {
            throw new IllegalArgumentException("frequency " + frequencyHz + " Hz");
        }
        if (ringLimitBytes < 0 || durationNanos < 0) {
            throw new IllegalArgumentException("negative limit");
        }
    }

    /** The default recording. */
    public static RecordSpec of(TargetMode mode) {
        return new RecordSpec(
                mode, List.of(), Set.of(), DEFAULT_FREQUENCY_HZ, CallGraph.BPF, 0, false, 0);
    }

    /** Whether that part of the default set is wanted. */
    public boolean wants(Topic topic) {
        return !without.contains(topic);
    }

    /** This with more events. */
    public RecordSpec withEvents(List<String> more) {
        List<String> all = new ArrayList<>(events);
        all.addAll(more);
        return new RecordSpec(
                mode,
                all,
                without,
                frequencyHz,
                callGraph,
                ringLimitBytes,
                flightRecorder,
                durationNanos);
    }

    /** This without those topics. */
    public RecordSpec leavingOut(Topic... topics) {
        Set<Topic> all = EnumSet.noneOf(Topic.class);
        all.addAll(without);
        all.addAll(List.of(topics));
        return new RecordSpec(
                mode,
                events,
                all,
                frequencyHz,
                callGraph,
                ringLimitBytes,
                flightRecorder,
                durationNanos);
    }

    /** This with other call chains. */
    public RecordSpec with(CallGraph chains) {
        return new RecordSpec(
                mode,
                events,
                without,
                frequencyHz,
                chains,
                ringLimitBytes,
                flightRecorder,
                durationNanos);
    }

    /** This with another limit of ring memory. */
    public RecordSpec withRingLimit(long sizeBytes) {
        return new RecordSpec(
                mode,
                events,
                without,
                frequencyHz,
                callGraph,
                sizeBytes,
                flightRecorder,
                durationNanos);
    }

    /** This as a flight recorder. */
    public RecordSpec keepingTheEnd() {
        return new RecordSpec(
                mode, events, without, frequencyHz, callGraph, ringLimitBytes, true, durationNanos);
    }
}
