package sonde.tools.report;

import java.io.IOException;
import sonde.event.KernelIdentity;
import sonde.event.Recording;
import sonde.open.ReportSource;
import sonde.probe.launch.PerfMapFile;
import sonde.probe.tracefs.InstanceName;
import sonde.recording.bundle.RecordingMeta;
import sonde.sys.MachineFacts;
import sonde.sys.ProcessCalls;
import sonde.sys.TargetFile;

/**
 * What compilers at run time left of their code for perf, {@code /tmp/perf-PID.map}: for a
 * perf.data that was made on this machine, and a bundle of this boot. Anybody may write to /tmp, so
 * a list counts only when it belongs to us or to root, as perf has it (tools/perf/util/symbol.c,
 * dso__load()).
 */
final class LeftPerfMaps {
    private LeftPerfMaps() {}

    /** The list of a process; empty when there is none that counts. */
    static byte[] read(ReportSource source, int pid) {
        try {
            return isOfHere(source) ? read(pid) : new byte[0];
        } catch (IOException e) {
            // Most processes leave none.
            return new byte[0];
        }
    }

    private static byte[] read(int pid) throws IOException {
        try (TargetFile file = TargetFile.open("/tmp/perf-" + pid + ".map", PerfMapFile.LIMIT)) {
            int owner = file.status().uid();
            boolean counts = owner == 0 || owner == ProcessCalls.geteuid();
            return counts ? file.read(PerfMapFile.LIMIT) : new byte[0];
        }
    }

    private static boolean isOfHere(ReportSource source) throws IOException {
        RecordingMeta bundle = source.meta();
        if (bundle != null) {
            return source.symbolOptions().sameMachine()
                    && bundle.machine().pidNamespace() == InstanceName.namespace();
        }
        MachineFacts.Uname own = MachineFacts.uname();
        for (Recording recording : source.recordings()) {
            if (recording.hasKernelRecords()) {
                KernelIdentity kernel = recording.kernel();
                return kernel.hostname().equals(own.node())
                        && kernel.release().equals(own.release());
            }
        }
        return false;
    }
}
