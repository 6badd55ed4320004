package sonde.tools.trace;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.MapType;
import sonde.bpf.ProgramType;
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.link.KernelTypes;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.probes.ExpanderOptions;
import sonde.lang.probes.ProbeExpander;
import sonde.probe.plan.Feature;
import sonde.probe.plan.FeatureFinding;
import sonde.probe.plan.FeatureFinding.FindingAnswer;
import sonde.probe.plan.KernelFeatureProbe;
import sonde.probe.plan.KernelFeatures;
import sonde.tools.doctor.DoctorRecipe;

/** Features of the kernel that scripts use: {@code sonde trace --info}. */
public final class TraceInformation {

    /**
     * A feature.
     *
     * @param reason why the kernel lacks it, and what that costs; empty where nothing is known
     */
    private record Offered(String name, boolean there, String reason) {}

    private TraceInformation() {}

    /**
     * A row for each feature.
     *
     * @param version of sonde, for the first line of the text
     */
    public static Result of(String version) {
        List<Offered> all = new ArrayList<>(probes());
        features().forEach((name, there) -> all.add(new Offered(name, there, "")));
        Table table =
                new TableBuilder<Offered>("features")
                        .text("feature", Offered::name)
                        .text("available", one -> one.there ? "yes" : "no")
                        .text("reason", Offered::reason)
                        .table(all);
        return new TextLayout(
                table,
                out -> {
                    out.println("sonde trace " + version);
                    all.forEach(one ->
                            out.println(
                                    "  "
                                            + one.name
                                            + ": "
                                            + (one.there ? "yes" : "no")
                                            + (one.reason.isEmpty() ? "" : " " + one.reason)));
                });
    }

    private static Map<String, Boolean> features() {
        Map<String, Boolean> features = new LinkedHashMap<>();
        features.put("probe_read_kernel", helper(HelperFunctionId.PROBE_READ_KERNEL));
        features.put("send_signal", helper(HelperFunctionId.SEND_SIGNAL));
        features.put("get_func_ip", helper(HelperFunctionId.GET_FUNC_IP));
        features.put("lookup_percpu_elem", helper(HelperFunctionId.MAP_LOOKUP_PERCPU_ELEM));
        features.put("Loop support", helper(HelperFunctionId.LOOP));
        features.put("get_ktime_ns", helper(HelperFunctionId.KTIME_GET_TAI_NS));
        features.put("jiffies64", helper(HelperFunctionId.JIFFIES64));
        features.put("skboutput", atFunction("__dev_queue_xmit", HelperFunctionId.SKB_OUTPUT));
        // One of the functions that may ask for paths in every kernel that has it.
        features.put("dpath", atFunction("filp_close", HelperFunctionId.D_PATH));
        features.put("btf", KernelTypeSource.shared().isThere());
        features.put("ring buffer", BpfFeatureProbe.mapType(MapType.RING_BUFFER).isYes());
        try (ProbeExpander expander = new ProbeExpander(ExpanderOptions.USUAL)) {
            features.put("kprobe_multi", expander.hasKprobeMulti());
            features.put("uprobe_multi", expander.hasUprobeMulti());
            features.put("kprobe_session", expander.hasKprobeSession());
        }
        features.put("dwunwind (DWARF stack unwinding)", helper(HelperFunctionId.TASK_PT_REGS));
        features.put("iter", KernelTypeSource.shared().iterator("task") != null);
        features.put("libdw (DWARF support)", true);
        features.put("bcc library path resolution", true);
        return features;
    }

    /** What scripts may probe, and what it costs where they may not. */
    private static List<Offered> probes() {
        KernelFeatures found = KernelFeatureProbe.probe();
        List<Offered> all = new ArrayList<>();
        for (Feature feature :
                List.of(Feature.KPROBES, Feature.FENTRY, Feature.HARDWARE_COUNTERS)) {
            FeatureFinding finding = found.finding(feature);
            boolean there = finding.answer() == FindingAnswer.YES;
            String reason = "(" + finding.reason() + "): " + DoctorRecipe.cost(feature);
            all.add(new Offered(feature.title(), there, there ? "" : reason));
        }
        return all;
    }

    private static boolean atFunction(String function, int number) {
        try (KernelTypes types = KernelTypes.open()) {
            return BpfFeatureProbe.helperAt(function, number, types).isYes();
        } catch (IOException e) {
            // A kernel without types has no such programs.
            return false;
        }
    }

    private static boolean helper(int number) {
        return isYes(ProgramType.KPROBE, number);
    }

    private static boolean isYes(ProgramType type, int number) {
        return BpfFeatureProbe.helper(type, number).isYes();
    }
}
