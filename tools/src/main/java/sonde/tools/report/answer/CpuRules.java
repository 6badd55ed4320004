package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import sonde.tools.report.answer.Evidence.CpuUse;

/** Judges time on CPUs. */
final class CpuRules {
    /** Fewer samples are chance. */
    private static final int SAMPLES = 20;

    private static final double BUSY = 0.3;
    private static final double WORTH_NAMING = 0.15;
    private static final int PLACES = 3;

    private CpuRules() {}

    /** Which functions the CPU time went to, where there was much of it. */
    static List<Finding> busiest(Evidence evidence) {
        double busy = evidence.cpuNanos() / (double) Math.max(1, evidence.wallNanos());
        long samples = evidence.cpu().stream().mapToLong(CpuUse::samples).sum();
        if (busy < BUSY || samples < SAMPLES) {
            return List.of();
        }
        List<String> places = new ArrayList<>();
        for (CpuUse use : evidence.cpu().stream().limit(PLACES).toList()) {
            if (use.share() >= WORTH_NAMING && !use.place().function().isEmpty()) {
                places.add(Words.percent(use.share()) + " of it in " + place(use));
            }
        }
        if (places.isEmpty()) {
            return List.of();
        }
        String text =
                Words.time(evidence.cpuNanos())
                        + " on CPU in "
                        + Words.time(evidence.wallNanos())
                        + ": "
                        + String.join("; ", places)
                        + ".";
        return List.of(new Finding(Math.min(1, busy), text));
    }

    private static String place(CpuUse use) {
        boolean kernel = use.kernelShare() > 0.5 && !use.calls().isEmpty();
        String calls = use.calls().stream().limit(2).collect(Collectors.joining(" and "));
        return use.place().phrase()
                + (kernel ? ", mostly in the kernel for " + calls : "")
                + " ("
                + use.group().name()
                + ")";
    }
}
