package sonde.tools.report;

import org.jspecify.annotations.Nullable;
import sonde.analysis.sched.ThreadState;
import sonde.open.ReportSource;
import sonde.recording.bundle.RecordingMeta;
import sonde.store.derive.SilentThreads;
import sonde.store.derive.TraceInput;
import sonde.sys.SyscallNames;
import sonde.tools.explain.RecordedIncidents;

/** What a query needs of a recording: the same operators' inputs as a report's. */
public final class QueryInput {
    private QueryInput() {}

    /**
     * The recording as the store takes it; {@code source} stays the caller's.
     *
     * @param shiftNanos to be added to its times
     */
    public static TraceInput of(ReportSource source, long shiftNanos) {
        SyscallNames names = source.syscalls();
        return new TraceInput(
                source.name(),
                source.recordings(),
                shiftNanos,
                source.tree(),
                source.comms(),
                silence(source),
                source.losses(),
                type -> source.isStacked(type.qualifiedName()),
                source::lacksSwitches,
                names::nameOf,
                () -> new RecordedCode(source, false).follower(),
                RecordedIncidents::new);
    }

    private static @Nullable SilentThreads silence(ReportSource source) {
        RecordingMeta meta = source.meta();
        if (meta == null) {
            return null;
        }
        boolean switches = source.planned("sched:sched_switch", "switch");
        ThreadState as = switches ? ThreadState.SLEEPING : ThreadState.UNKNOWN;
        return new SilentThreads(meta.times().startNanos(), meta.times().endNanos(), as);
    }
}
