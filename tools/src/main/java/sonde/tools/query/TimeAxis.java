package sonde.tools.query;

import java.util.ArrayList;
import java.util.List;
import sonde.open.ReportSource;
import sonde.recording.bundle.RecordingMeta;

/**
 * One time axis for several recordings: that of the first. Bundles say what wall-clock time their
 * clock stood at; those of one boot share a clock.
 *
 * @param shifts nanoseconds to be added to the times of each
 * @param notes what could not be related
 */
record TimeAxis(List<Long> shifts, List<String> notes) {
    static TimeAxis of(List<ReportSource> sources) {
        List<Long> shifts = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        RecordingMeta first = sources.getFirst().meta();
        for (ReportSource source : sources) {
            RecordingMeta meta = source.meta();
            if (shifts.isEmpty()) {
                shifts.add(0L);
            } else if (first == null || meta == null) {
                shifts.add(0L);
                notes.add(
                        source.name()
                                + ": nothing says how its clock relates to that of "
                                + sources.getFirst().name()
                                + "; its times are its own.");
            } else if (meta.machine().bootId().equals(first.machine().bootId())) {
                shifts.add(0L);
            } else {
                shifts.add(wall(meta) - wall(first));
                notes.add(source.name() + ": of another boot, put on the axis by wall-clock time.");
            }
        }
        return new TimeAxis(shifts, notes);
    }

    /** Wall-clock time at 0 of the recording's clock. */
    private static long wall(RecordingMeta meta) {
        return meta.times().startWallNanos() - meta.times().startNanos();
    }
}
