package sonde.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.MapType;
import sonde.bpf.ProgramType;
import sonde.bpf.feature.FeatureProbe;
import sonde.bpf.link.KernelTypes;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.probes.Expander;
import sonde.lang.probes.ExpanderOptions;
import sonde.probe.plan.Feature;
import sonde.probe.plan.Finding;
import sonde.probe.plan.KernelFeatures;
import sonde.tools.doctor.DoctorRecipe;

/** What {@code sonde trace --info} says: features of the kernel, a line each. */
final class TraceInformation {
    private static final int D_PATH = 147;
    private static final int LOOP = 181;
    private static final int GET_FUNC_IP = 173;
    private static final int LOOKUP_PERCPU = 195;
    private static final int TAI = 208;
    private static final int SEND_SIGNAL = 109;
    private static final int JIFFIES = 118;
    private static final int SKB_OUTPUT = 111;
    private static final int TASK_PT_REGS = 175;
    private static final int READ_KERNEL = 113;

    private TraceInformation() {}

    static String text() {
        Map<String, Boolean> features = new LinkedHashMap<>();
        features.put("probe_read_kernel", helper(READ_KERNEL));
        features.put("send_signal", helper(SEND_SIGNAL));
        features.put("get_func_ip", helper(GET_FUNC_IP));
        features.put("lookup_percpu_elem", helper(LOOKUP_PERCPU));
        features.put("Loop support", helper(LOOP));
        features.put("get_ktime_ns", helper(TAI));
        features.put("jiffies64", helper(JIFFIES));
        features.put("skboutput", atFunction("__dev_queue_xmit", SKB_OUTPUT));
        // One of the functions that may ask for paths in every kernel that has it.
        features.put("dpath", atFunction("filp_close", D_PATH));
        features.put("btf", KernelTypeSource.shared().isThere());
        features.put("ring buffer", FeatureProbe.mapType(MapType.RING_BUFFER).isYes());
        try (Expander expander = new Expander(ExpanderOptions.USUAL)) {
            features.put("kprobe_multi", expander.hasKprobeMulti());
            features.put("uprobe_multi", expander.hasUprobeMulti());
            features.put("kprobe_session", expander.hasKprobeSession());
        }
        features.put("dwunwind (DWARF stack unwinding)", helper(TASK_PT_REGS));
        features.put("iter", KernelTypeSource.shared().iterator("task") != null);
        features.put("libdw (DWARF support)", true);
        features.put("bcc library path resolution", true);
        StringBuilder out = new StringBuilder(1024);
        out.append("sonde trace ").append(Main.VERSION).append('\n');
        probes(out);
        features.forEach((name, there) ->
                out.append("  ")
                        .append(name)
                        .append(": ")
                        .append(there ? "yes" : "no")
                        .append('\n'));
        return out.toString();
    }

    /** What scripts may probe, and what it costs where they may not. */
    private static void probes(StringBuilder out) {
        KernelFeatures found = sonde.probe.plan.FeatureProbe.probe();
        for (Feature feature :
                List.of(Feature.KPROBES, Feature.FENTRY, Feature.HARDWARE_COUNTERS)) {
            Finding finding = found.finding(feature);
            out.append("  ").append(feature.title()).append(": ");
            out.append(
                    finding.answer() == Finding.Answer.YES
                            ? "yes"
                            : "no (" + finding.reason() + "): " + DoctorRecipe.cost(feature));
            out.append('\n');
        }
    }

    private static boolean atFunction(String function, int number) {
        try (KernelTypes types = KernelTypes.open()) {
            return FeatureProbe.helperAt(function, number, types).isYes();
        } catch (IOException e) {
            // A kernel without types has no such programs.
            return false;
        }
    }

    private static boolean helper(int number) {
        return isYes(ProgramType.KPROBE, number);
    }

    private static boolean isYes(ProgramType type, int number) {
        return FeatureProbe.helper(type, number).isYes();
    }
}
