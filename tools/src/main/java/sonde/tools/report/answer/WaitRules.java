package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sonde.tools.report.answer.Evidence.ThreadGroup;
import sonde.tools.report.answer.Evidence.WaitSum;

/** Judges time off CPUs. */
final class WaitRules {
    private static final double WORTH_SAYING = 0.25;

    private WaitRules() {}

    /** What threads waited for, where it took much of their time. */
    static List<Finding> longest(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        for (WaitSum wait : evidence.waits()) {
            double share = wait.nanos() / (double) Math.max(1, wait.group().wallNanos());
            if (share >= WORTH_SAYING && !wait.call().isEmpty()) {
                findings.add(new Finding(share, text(evidence, wait)));
            }
        }
        return findings;
    }

    private static String text(Evidence evidence, WaitSum wait) {
        ThreadGroup group = wait.group();
        StringBuilder text = new StringBuilder(group.shown());
        text.append(" waited ").append(Words.time(wait.nanos())).append(" of ");
        text.append(group.threads() > 1 ? group.threads() + " × " : "");
        text.append(Words.time(group.wallNanos() / group.threads()));
        text.append(" in ").append(wait.call());
        text.append(wait.object().isEmpty() ? "" : " of " + wait.object());
        if (!wait.place().function().isEmpty()) {
            text.append(", called from ").append(wait.place().chain());
        }
        wait.wakers().entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .filter(waker -> waker.getValue() > wait.nanos() / 2)
                .filter(waker -> !waker.getKey().equals("interrupt"))
                .ifPresent(waker -> text.append("; woken by ").append(waker.getKey()));
        return text.append('.').toString();
    }
}
