package sonde.probe.record;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.probe.plan.RecordPlan;
import sonde.probe.tracefs.InstanceName;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundleLayout;
import sonde.recording.bundle.RecordingMeta.CommandExit;
import sonde.recording.bundle.RecordingMeta.RecordedMachine;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.sys.Clocks;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/** What a session writes about itself and its machine. */
final class SessionMeta {
    private static final int CLOCK_PROCESS_CPUTIME = 2;
    private static final Pattern PEAK = Pattern.compile("VmHWM:\\s+(\\d{1,15}) kB");

    private SessionMeta() {}

    /** What is known before anything is opened. */
    static RecordingMeta initial(RecordPlan plan, RecordRequest request) throws SyscallException {
        MachineFacts.Uname uname = MachineFacts.uname();
        long wall = Clocks.nanos(Clocks.CLOCK_REALTIME);
        long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        List<Integer> cpus = plan.spec().limits().cpus();
        return new RecordingMeta(
                RecordingMeta.FORMAT_VERSION,
                request.sondeVersion(),
                RecordingState.RECORDING,
                new RecordedTarget(request.mode(), request.argv(), request.rootPids(), null),
                RecordSession.self(),
                new RecordedMachine(
                        uname.node(),
                        uname.release(),
                        uname.machine(),
                        InstanceName.bootId(),
                        InstanceName.namespace(),
                        cpus.isEmpty() ? RecordSession.onlineCpus() : cpus,
                        MachineFacts.ramBytes()),
                new RecordingTimes(now, wall, -1, -1),
                new BundleLayout(plan.owners(), plan.ringList(), List.of()),
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }

    /** The recorder's account at the end, with threads that came meanwhile. */
    static RecordingMeta.Recorder recorder(RecordingMeta.Recorder start, long cpuAtStart) {
        TreeSet<Integer> tids = new TreeSet<>(start.tids());
        tids.addAll(ProcessTree.threads(start.pid()));
        return new RecordingMeta.Recorder(
                start.pid(),
                new ArrayList<>(tids),
                start.startTicks(),
                Clocks.nanos(CLOCK_PROCESS_CPUTIME) - cpuAtStart,
                peakRss());
    }

    /**
     * How a command ended, without a resident set that is not its own: execve hands on the greatest
     * of the memory that it leaves (fs/exec.c, exec_mmap), and posix_spawn's child left ours.
     */
    static RecordingMeta.@Nullable CommandExit own(
            RecordingMeta.@Nullable CommandExit exit, long inheritedBytes) {
        return exit == null || exit.maxRssBytes() > inheritedBytes
                ? exit
                : new CommandExit(
                        exit.status(),
                        exit.userNanos(),
                        exit.systemNanos(),
                        -1,
                        exit.minorFaults(),
                        exit.majorFaults(),
                        exit.voluntarySwitches(),
                        exit.involuntarySwitches());
    }

    /** VmHWM of this process, -1 when it cannot be read. */
    static long peakRss() {
        try {
            byte[] status = FileCalls.readAll("/proc/self/status", 1 << 16);
            Matcher peak = PEAK.matcher(new String(status, StandardCharsets.UTF_8));
            return peak.find() ? Long.parseLong(peak.group(1)) << 10 : -1;
        } catch (SyscallException e) {
            return -1;
        }
    }
}
