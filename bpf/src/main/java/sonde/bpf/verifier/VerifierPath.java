package sonde.bpf.verifier;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import sonde.bpf.verifier.LogEntry.LoggedSource;
import sonde.bpf.verifier.LogEntry.LoggedState;
import sonde.bpf.verifier.LogEntry.LoggedStep;

/**
 * The way the verifier took to where it stopped: of all instructions in the log those on that path.
 *
 * <p>At a branch the verifier goes one way and puts the other off; what was put off last is taken
 * up first (push_stack and pop_stack of kernel/bpf/verifier.c). So a path that begins with {@code
 * from 3 to 7} goes on behind the last instruction 3 from which nothing was taken up yet.
 */
final class VerifierPath {
    private static final int MOST_STEPS = 50_000;

    /** Branches looked at to find where ways go on, for logs that no kernel wrote. */
    private static final long MOST_LOOKS = 50_000_000;

    private VerifierPath() {}

    /** First to last; empty when the log has no instruction. */
    static List<LoggedStep> of(VerifierLog log) {
        List<LoggedStep> steps = new ArrayList<>();
        int[] parents = new int[64];
        int[] open = new int[64];
        int opened = 0;
        int current = -1;
        long looks = 0;
        for (LogEntry entry : log.entries()) {
            switch (entry) {
                case LoggedStep step -> {
                    int index = steps.size();
                    parents = roomFor(parents, index);
                    parents[index] = current;
                    steps.add(step);
                    current = index;
                    if (mayPutOff(step.text())) {
                        open = roomFor(open, opened);
                        open[opened++] = index;
                    }
                }
                case LogEntry.Resumed resumed -> {
                    int at = opened - 1;
                    while (at >= 0 && steps.get(open[at]).slot() != resumed.from()) {
                        at = ++looks < MOST_LOOKS ? at - 1 : -1;
                    }
                    current = at < 0 ? -1 : open[at];
                    opened = at < 0 ? opened : at;
                }
                case LogEntry.Function _ -> {
                    current = -1;
                    opened = 0;
                }
                case LoggedState _, LoggedSource _, LogEntry.Remark _, LogEntry.Message _ -> {}
            }
        }
        List<LoggedStep> path = new ArrayList<>();
        for (int at = current; at >= 0 && path.size() < MOST_STEPS; at = parents[at]) {
            path.add(steps.get(at));
        }
        Collections.reverse(path);
        return path;
    }

    /** Branches; calls, which may call back or be an iterator's; loops that may end. */
    private static boolean mayPutOff(String text) {
        return text.startsWith("if ")
                || text.startsWith("call ")
                || text.startsWith("may_goto ")
                || text.startsWith("gotox ");
    }

    private static int[] roomFor(int[] array, int index) {
        return index < array.length ? array : Arrays.copyOf(array, array.length * 2);
    }
}
