package sonde.recording.tracedat;

import java.util.List;
import java.util.Optional;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;

/** What a trace.dat says of itself. */
public interface TraceDatDescription {
    /** What the file says besides events. */
    TraceDatMetadata metadata();

    /**
     * Nanoseconds that the writer wanted added to every time ({@code --date}, {@code --ts-offset}).
     */
    long timeOffset();

    /** What the rings' own accounts, {@code per_cpu/cpuN/stats}, say was lost. */
    List<RecordedLoss> losses();

    /** How this file of a guest relates to its host's clock; its times are the host's already. */
    Optional<TimeShift> timeShift();
}
