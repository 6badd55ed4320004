package sonde.probe.plan;

import static sonde.recording.perfdata.PerfAbi.FLAG_DISABLED;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_HV;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_KERNEL;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_CPU_CYCLES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_CPU_CLOCK;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_LOST;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CALLCHAIN;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IP;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_HARDWARE;

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.probe.tracefs.InstanceName;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.perfdata.PerfAttr;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.PerfEventOpen;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Finds out what this kernel allows this process, by trying: sysctls and capabilities only explain
 * a refusal. Leaves nothing behind but, as root, a mounted tracefs where none was.
 */
public final class KernelFeatureProbe {
    private static final String PARANOID = "/proc/sys/kernel/perf_event_paranoid";
    private static final String ROOT = "run as root";

    private final Map<Feature, FeatureFinding> findings = new EnumMap<>(Feature.class);
    private List<String> tracepoints = List.of();

    private KernelFeatureProbe() {}

    /** Tries everything; about 20 ms. */
    public static KernelFeatures probe() {
        KernelFeatureProbe probe = new KernelFeatureProbe();
        probe.tracefs();
        probe.perf();
        probe.symbols();
        probe.bpf();
        probe.functions();
        probe.pidNamespace();
        MachineFacts.Uname uname = MachineFacts.uname();
        return new KernelFeatures(
                uname.release(),
                uname.machine(),
                probe.findings,
                probe.tracepoints,
                unprivilegedRing());
    }

    /**
     * ftrace's filters and fields and BPF's pids are numbers of the initial namespace, and inside
     * another one nobody can tell which they are; perf's events of a task are told in ours.
     */
    private void pidNamespace() {
        if (isInitialNamespace()) {
            return;
        }
        FeatureFinding inside =
                FeatureFinding.no(
                        "this is a pid namespace (a container), whose pids are not the kernel's",
                        "record from outside: sonde record -p PID");
        for (Feature feature : List.of(Feature.TRACEFS, Feature.PERF_SYSTEM_WIDE, Feature.BPF)) {
            findings.put(feature, inside);
        }
        tracepoints = List.of();
    }

    private static boolean isInitialNamespace() {
        try {
            return InstanceName.namespace() == InstanceName.INITIAL_NAMESPACE;
        } catch (SyscallException e) {
            // No /proc to ask: nothing says that it is another one.
            return true;
        }
    }

    private void tracefs() {
        try {
            Optional<Tracefs> found = Tracefs.find();
            if (found.isEmpty() && ProcessCalls.geteuid() == 0) {
                found = Optional.of(Tracefs.mount());
            }
            if (found.isEmpty()) {
                findings.put(
                        Feature.TRACEFS,
                        FeatureFinding.no(
                                "tracefs at " + Tracefs.USUAL + " is not readable", ROOT));
                return;
            }
            tracepoints = found.get().tracepoints();
            String folder = found.get().root() + "/instances";
            int errno =
                    FileCalls.access(
                            FileCalls.AT_FDCWD,
                            folder.getBytes(StandardCharsets.UTF_8),
                            FileCalls.W_OK);
            findings.put(
                    Feature.TRACEFS,
                    errno == 0
                            ? FeatureFinding.yes()
                            : FeatureFinding.no(folder + ": " + Errno.describe(errno), ROOT));
        } catch (SyscallException e) {
            findings.put(Feature.TRACEFS, FeatureFinding.no(e.getMessage() + lockdown(), ROOT));
        }
    }

    private void perf() {
        PerfAttr clock =
                PerfAttr.software(PERF_COUNT_SW_CPU_CLOCK)
                        .frequency(100)
                        .sampleType(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN)
                        .flags(FLAG_DISABLED)
                        .build();
        PerfAttr user = clock.toBuilder().flags(FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HV).build();
        PerfAttr cycles =
                PerfAttr.of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES)
                        .flags(FLAG_DISABLED | FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HV)
                        .build();
        PerfAttr lost = user.toBuilder().readFormat(PERF_FORMAT_LOST).build();
        String remedy = "run as root, give CAP_PERFMON, or set kernel.perf_event_paranoid to ";
        tried(Feature.PERF_SYSTEM_WIDE, clock, -1, remedy + "-1");
        tried(Feature.PERF_KERNEL, clock, 0, remedy + "1");
        tried(Feature.PERF_TASK, user, 0, remedy + "2");
        tried(
                Feature.HARDWARE_COUNTERS,
                cycles,
                0,
                "on a virtual machine, let the host pass its counters through");
        tried(Feature.PERF_LOST, lost, 0, "Linux 6.0 or newer");
    }

    private void tried(Feature feature, PerfAttr attr, int pid, String remedy) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, attr.encode());
            long fd = PerfEventOpen.tryOpen(bytes, pid, pid < 0 ? firstCpu() : -1, -1, 0);
            if (fd >= 0) {
                Fd.discard((int) fd);
                findings.put(feature, FeatureFinding.yes());
                return;
            }
            findings.put(feature, FeatureFinding.no(reason(feature, (int) -fd), remedy));
        }
    }

    private static int firstCpu() {
        try {
            return Math.max(MachineFacts.onlineCpus().nextSetBit(0), 0);
        } catch (SyscallException e) {
            return 0;
        }
    }

    private static String reason(Feature feature, int errno) {
        if (errno == Errno.ENOENT && feature == Feature.HARDWARE_COUNTERS) {
            return "this machine has no hardware counters";
        }
        if (errno == Errno.EACCES || errno == Errno.EPERM) {
            String level = line(PARANOID);
            return "refused"
                    + (level.isEmpty() ? "" : ", kernel.perf_event_paranoid is " + level)
                    + lockdown();
        }
        return "perf_event_open: " + Errno.describe(errno);
    }

    private void symbols() {
        try (BufferedReader in =
                new BufferedReader(
                        new FileReader("/proc/kallsyms", StandardCharsets.UTF_8), 4096)) {
            for (int i = 0; i < 100; i++) {
                String line = in.readLine();
                if (line != null && line.length() > 16 && !line.startsWith("0000000000000000")) {
                    findings.put(Feature.KERNEL_SYMBOLS, FeatureFinding.yes());
                    return;
                }
            }
            // kallsyms_show_value, kernel/ksyms_common.c: with 0 also perf_event_paranoid counts.
            String restricted = line("/proc/sys/kernel/kptr_restrict");
            String setting =
                    restricted.equals("0")
                            ? "perf_event_paranoid is " + line(PARANOID)
                            : "kptr_restrict is " + restricted;
            findings.put(
                    Feature.KERNEL_SYMBOLS,
                    FeatureFinding.no(
                            "addresses in /proc/kallsyms are hidden, kernel." + setting,
                            "run as root or give CAP_SYSLOG"));
        } catch (IOException e) {
            findings.put(
                    Feature.KERNEL_SYMBOLS,
                    FeatureFinding.no(String.valueOf(e.getMessage()), ROOT));
        }
    }

    /** BPF_PROG_LOAD of "r0 = 0; exit" as a tracepoint program. */
    private void bpf() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment program = arena.allocate(16, 8);
            program.set(ValueLayout.JAVA_LONG, 0, 0xb7L);
            program.set(ValueLayout.JAVA_LONG, 8, 0x95L);
            MemorySegment attr = arena.allocate(168, 8);
            attr.set(ValueLayout.JAVA_INT, 0, BPF_PROG_TYPE_TRACEPOINT);
            attr.set(ValueLayout.JAVA_INT, 4, 2);
            attr.set(ValueLayout.JAVA_LONG, 8, program.address());
            attr.set(ValueLayout.JAVA_LONG, 16, arena.allocateFrom("GPL").address());
            long fd = sonde.sys.Bpf.tryCall(BPF_PROG_LOAD, attr);
            if (fd >= 0) {
                Fd.discard((int) fd);
                findings.put(Feature.BPF, FeatureFinding.yes());
                return;
            }
            findings.put(
                    Feature.BPF,
                    FeatureFinding.no(
                            "bpf(BPF_PROG_LOAD): " + Errno.describe((int) -fd) + lockdown(),
                            "run as root or give CAP_BPF and CAP_PERFMON"));
        }
    }

    private void functions() {
        findings.put(
                Feature.KPROBES,
                FunctionProbes.haveKprobes()
                        ? FeatureFinding.yes()
                        : FeatureFinding.no(
                                "this kernel is built without CONFIG_KPROBE_EVENTS",
                                "boot one that has it"));
        if (tracepoints.isEmpty()) {
            findings.put(Feature.FENTRY, FeatureFinding.unknown("tracefs is not readable"));
            return;
        }
        String missing = FunctionProbes.whyNoTracer(FunctionProbes.FUNCTIONS);
        findings.put(
                Feature.FENTRY,
                missing.isEmpty()
                        ? FeatureFinding.yes()
                        : FeatureFinding.no(
                                missing + lockdown(),
                                missing.contains("CONFIG_")
                                        ? "boot one that has it"
                                        : "boot without lockdown, or a kernel that lists them"));
    }

    private static final int BPF_PROG_LOAD = 5;
    private static final int BPF_PROG_TYPE_TRACEPOINT = 5;

    /** Words about a lockdown that would explain a refusal; empty without one. */
    private static String lockdown() {
        String mode = line("/sys/kernel/security/lockdown");
        int open = mode.indexOf('[');
        int close = mode.indexOf(']');
        if (open < 0 || close < open || mode.startsWith("[none]")) {
            return "";
        }
        return ", kernel lockdown is " + mode.substring(open + 1, close);
    }

    /** A user may map perf_event_mlock_kb per CPU, control page included (kernel/events/core.c). */
    private static long unprivilegedRing() {
        String kib = line("/proc/sys/kernel/perf_event_mlock_kb");
        long bytes = kib.matches("\\d{1,9}") ? Long.parseLong(kib) << 10 : 516L << 10;
        return Math.max(bytes - MachineFacts.pageBytes(), MachineFacts.pageBytes());
    }

    private static String line(String path) {
        try {
            return new String(FileCalls.readAll(path, 4096), StandardCharsets.UTF_8).strip();
        } catch (SyscallException e) {
            return "";
        }
    }
}
