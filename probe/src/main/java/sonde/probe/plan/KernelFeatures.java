package sonde.probe.plan;

import java.util.List;
import java.util.Map;
import sonde.probe.plan.FeatureFinding.FindingAnswer;

/**
 * What the kernel allows this process.
 *
 * @param release as uname says: {@code "6.1.0-56-amd64"}
 * @param architecture as uname says: {@code "x86_64"}
 * @param findings a feature without one was not looked at
 * @param tracepoints {@code system:name} of every event in tracefs, sorted; empty without tracefs
 * @param unprivilegedRingBytes most bytes of perf ring per CPU, Long.MAX_VALUE for root
 */
public record KernelFeatures(
        String release,
        String architecture,
        Map<Feature, FeatureFinding> findings,
        List<String> tracepoints,
        long unprivilegedRingBytes) {
    public KernelFeatures {
        findings = Map.copyOf(findings);
        tracepoints = List.copyOf(tracepoints);
    }

    /** What was found about it. */
    public FeatureFinding finding(Feature feature) {
        return findings.getOrDefault(feature, FeatureFinding.unknown("not looked at"));
    }

    /** Whether it was tried and works. */
    public boolean has(Feature feature) {
        return finding(feature).answer() == FindingAnswer.YES;
    }

    /** Whether the kernel has that tracepoint, {@code "sched:sched_switch"}. */
    public boolean hasTracepoint(String qualifiedName) {
        return tracepoints.contains(qualifiedName);
    }
}
