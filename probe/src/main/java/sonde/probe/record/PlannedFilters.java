package sonde.probe.record;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.probe.plan.RecordPlan;
import sonde.probe.plan.RecordingGap;
import sonde.probe.tracefs.FilterCheck;
import sonde.probe.tracefs.FilterRefusedException;
import sonde.probe.tracefs.Tracefs;

/** The filters of a plan, read by the kernel before anything is recorded. */
public final class PlannedFilters {
    private PlannedFilters() {}

    /**
     * The plan with filters as the kernel takes them. Of the events of a glob, those that lack the
     * filter's fields are left out.
     *
     * @throws FilterRefusedException when the kernel refuses the filter of an event that was named,
     *     or that of all events of a glob
     */
    public static RecordPlan checked(RecordPlan plan) throws IOException {
        Tracefs tracefs = plan.extras().filters().isEmpty() ? null : Tracefs.find().orElse(null);
        if (tracefs == null) {
            return plan;
        }
        Map<String, List<String>> kernel = new TreeMap<>();
        Map<List<String>, FilterRefusedException> refused = new LinkedHashMap<>();
        Set<String> absent = new HashSet<>();
        try (FilterCheck check = FilterCheck.open(tracefs)) {
            for (Map.Entry<String, List<String>> one :
                    new TreeMap<>(plan.extras().filters()).entrySet()) {
                FilterRefusedException failure = check(check, one, kernel);
                if (failure != null && !plan.extras().optional().contains(one.getKey())) {
                    throw failure;
                }
                if (failure != null) {
                    absent.add(one.getKey());
                    refused.putIfAbsent(one.getValue(), failure);
                }
            }
        }
        List<RecordingGap> gaps = new ArrayList<>();
        for (Map.Entry<List<String>, FilterRefusedException> one : refused.entrySet()) {
            List<String> same =
                    plan.extras().filters().entrySet().stream()
                            .filter(other -> other.getValue().equals(one.getKey()))
                            .map(Map.Entry::getKey)
                            .sorted()
                            .toList();
            if (absent.containsAll(same)) {
                throw one.getValue();
            }
            List<String> gone = same.stream().filter(absent::contains).toList();
            String first = String.join(", ", gone.subList(0, Math.min(gone.size(), 4)));
            gaps.add(
                    new RecordingGap(
                            (gone.size() == 1 ? "event " : gone.size() + " events: ")
                                    + first
                                    + (gone.size() > 4 ? ", …" : ""),
                            "the filter '"
                                    + String.join(" && ", one.getKey())
                                    + "' does not fit "
                                    + (gone.size() == 1 ? "its" : "their")
                                    + " fields",
                            ""));
        }
        if (kernel.containsKey("sched:sched_switch")) {
            gaps.add(
                    new RecordingGap(
                            "exact states of threads",
                            "sched:sched_switch is filtered",
                            "they are estimated from CPU samples"));
        }
        return plan.filtered(kernel, absent, gaps);
    }

    private static @Nullable FilterRefusedException check(
            FilterCheck check,
            Map.Entry<String, List<String>> one,
            Map<String, List<String>> kernel)
            throws IOException {
        List<String> parts = new ArrayList<>();
        try {
            for (String text : one.getValue()) {
                String part = check.check(one.getKey(), text);
                parts.add(one.getValue().size() == 1 ? part : "(" + part + ")");
            }
        } catch (FilterRefusedException e) {
            return e;
        }
        kernel.put(one.getKey(), parts);
        return null;
    }
}
