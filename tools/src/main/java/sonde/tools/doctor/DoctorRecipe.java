package sonde.tools.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.probe.launch.Leftovers;
import sonde.probe.launch.Leftovers.Leftover;
import sonde.probe.plan.Feature;
import sonde.probe.plan.FeatureFinding;
import sonde.probe.plan.FeatureFinding.FindingAnswer;
import sonde.probe.plan.KernelFeatureProbe;
import sonde.probe.plan.KernelFeatures;
import sonde.sys.FileCalls;

/** Tries what recordings and scripts need and says what each gap costs and how to close it. */
public final class DoctorRecipe {
    private DoctorRecipe() {}

    /** The examination; switches nothing on, and off what killed processes of sonde left on. */
    public static Report examine() {
        List<Leftover> leftovers = Leftovers.examine();
        KernelFeatures features = KernelFeatureProbe.probe();
        List<String> notes = new ArrayList<>();
        List<List<@Nullable Object>> rows = new ArrayList<>();
        int gaps = 0;
        for (Feature feature : Feature.values()) {
            FeatureFinding finding = features.finding(feature);
            boolean missing = finding.answer() != FindingAnswer.YES;
            gaps += missing ? 1 : 0;
            rows.add(
                    List.of(
                            feature.title(),
                            finding.answer().name().toLowerCase(Locale.ROOT),
                            missing ? cost(feature) : finding.reason(),
                            missing ? reasonAndRemedy(finding) : ""));
        }
        notes.add(
                gaps == 0
                        ? "everything that sonde uses is there"
                        : gaps + " of " + Feature.values().length + " features are missing");
        List<Result> sections = new ArrayList<>();
        sections.add(
                new Table(
                        "features",
                        List.of(
                                Column.text("feature"),
                                Column.text("here"),
                                Column.text("what that costs"),
                                Column.text("why, and the remedy")),
                        rows));
        sections.add(settings());
        if (!leftovers.isEmpty()) {
            sections.add(table(leftovers));
        }
        String title = "Linux " + features.release() + " on " + features.architecture();
        return new Report(title, notes, sections);
    }

    private static String reasonAndRemedy(FeatureFinding finding) {
        return finding.remedy().isEmpty()
                ? finding.reason()
                : finding.reason() + "; " + finding.remedy();
    }

    /** What is lost where a feature is missing. */
    public static String cost(Feature feature) {
        return switch (feature) {
            case TRACEFS -> "no system calls, wake-ups, signals or block I/O in recordings";
            case PERF_SYSTEM_WIDE -> "no -a; recordings end at set-uid programs";
            case PERF_TASK -> "no CPU samples, no switches, no page faults";
            case PERF_KERNEL -> "stacks end where the kernel begins";
            case HARDWARE_COUNTERS ->
                    "CPU samples follow a timer (cpu-clock) instead of cycles; no -e cycles,"
                            + " no 'hardware:' in scripts";
            case PERF_LOST -> "losses are exact only up to the last record written";
            case BPF -> "files and peers are shown by number, not by name";
            case KPROBES ->
                    "no 'kprobe:' and 'kretprobe:' in scripts, no named probes at functions of the"
                            + " kernel; tracepoints remain";
            case FENTRY ->
                    "no 'fentry:' and 'fexit:' in scripts; tracepoints and 'rawtracepoint:' remain";
            case KERNEL_SYMBOLS -> "kernel frames are addresses";
        };
    }

    private static Table settings() {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (String file :
                List.of(
                        "/proc/sys/kernel/perf_event_paranoid",
                        "/proc/sys/kernel/kptr_restrict",
                        "/proc/sys/kernel/unprivileged_bpf_disabled",
                        "/proc/sys/kernel/perf_event_mlock_kb",
                        "/proc/sys/kernel/perf_event_max_sample_rate",
                        "/proc/sys/kernel/perf_event_max_stack",
                        "/sys/kernel/security/lockdown")) {
            rows.add(List.of(file, contents(file)));
        }
        return new Table("settings", List.of(Column.text("file"), Column.text("value")), rows);
    }

    private static String contents(String file) {
        try {
            return new String(FileCalls.readAll(file, 4096), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "not readable";
        }
    }

    /** Only what killed processes of sonde left, once it is removed, and what stays and why. */
    public static Report clean() {
        List<Leftover> leftovers = Leftovers.examine();
        long removed = leftovers.stream().filter(Leftover::removed).count();
        long stay = leftovers.size() - removed;
        String note =
                removed
                        + " left by killed processes of sonde "
                        + (removed == 1 ? "was" : "were")
                        + " removed"
                        + (stay == 0 ? "" : "; " + stay + " of others stay");
        return new Report(
                "clean",
                List.of(removed == 0 ? "nothing is left by killed processes of sonde" : note),
                leftovers.isEmpty() ? List.of() : List.of(table(leftovers)));
    }

    private static Table table(List<Leftover> leftovers) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (Leftover one : leftovers) {
            String done = one.removed() ? "removed" : "left";
            rows.add(List.of(one.kind(), one.name(), done, one.why()));
        }
        return new Table(
                "leftovers",
                List.of(
                        Column.text("what"),
                        Column.text("name"),
                        Column.text("done"),
                        Column.text("why")),
                rows);
    }
}
