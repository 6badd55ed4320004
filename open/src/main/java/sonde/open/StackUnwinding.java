package sonde.open;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import sonde.analysis.stack.SampleUnwinding;
import sonde.event.Recording;
import sonde.recording.perfdata.CopiedStackSamples;
import sonde.symbol.ModuleImages;
import sonde.symbol.SymbolOptions;
import sonde.symbol.unwind.ModuleFrames;
import sonde.symbol.unwind.UnwindEnd;
import sonde.sys.Arch;

/** Unwinds the user stacks of the perf.data of a source, and says what came of it. */
public final class StackUnwinding {
    private static final int MOST_NOTES = 3;

    /** The share of stacks that is worth a sentence. */
    private static final double WORTH_SAYING = 0.001;

    private final ModuleImages images;
    private final ModuleFrames modules;
    private final String machine;
    private boolean any;

    /**
     * @param machine that recorded where the file does not say; empty for this one
     */
    StackUnwinding(SymbolOptions options, String machine) {
        images = new ModuleImages(options);
        modules = new ModuleFrames(images);
        this.machine = machine;
    }

    void take(Recording recording) {
        CopiedStackSamples stacks = recording.capability(CopiedStackSamples.class).orElse(null);
        if (stacks == null || !stacks.hasUserStacks()) {
            return;
        }
        String stated = recording.kernel().architecture();
        String other = machine.isEmpty() ? Arch.current().machine() : machine;
        SampleUnwinding unwinding =
                new SampleUnwinding(
                        stated.isEmpty() ? other : stated, modules, recording.fileIds());
        stacks.userStacks(unwinding::lane);
        any = true;
    }

    /** Whether there are stacks to unwind. */
    public boolean isAny() {
        return any;
    }

    /** What a reader should know of stacks that are not whole. */
    public List<String> notes(Map<UnwindEnd, Long> ends) {
        List<String> notes = new ArrayList<>();
        double sum = Math.max(1, ends.values().stream().mapToLong(Long::longValue).sum());
        double truncated = share(ends, sum, UnwindEnd::isTruncated);
        double left = share(ends, sum, end -> end == UnwindEnd.OTHER_STACK);
        double broken = share(ends, sum, StackUnwinding::isBroken);
        if (truncated >= WORTH_SAYING) {
            notes.add(
                    String.format(
                            Locale.ROOT,
                            "%.1f %% of unwound user stacks are truncated: more stack than was"
                                    + " copied. Record with --call-graph dwarf,BYTES (up to"
                                    + " 65528).",
                            100 * truncated));
        }
        if (left >= WORTH_SAYING) {
            notes.add(
                    String.format(
                            Locale.ROOT,
                            "%.1f %% of unwound user stacks go on in another stack, which was not"
                                    + " copied: a goroutine's, or that of what a signal"
                                    + " interrupted. --call-graph fp follows frame pointers there;"
                                    + " Go programs have them.",
                            100 * left));
        }
        if (broken >= WORTH_SAYING) {
            notes.add(
                    String.format(
                            Locale.ROOT,
                            "%.1f %% of unwound user stacks are broken off: %s.",
                            100 * broken,
                            reasons(ends, sum)));
            images.notes().stream().limit(MOST_NOTES).forEach(note -> notes.add(note + "."));
            modules.notes().stream().limit(MOST_NOTES).forEach(note -> notes.add(note + "."));
        }
        return notes;
    }

    private static boolean isBroken(UnwindEnd end) {
        return !end.isComplete() && !end.isTruncated() && end != UnwindEnd.OTHER_STACK;
    }

    private static double share(Map<UnwindEnd, Long> ends, double sum, Predicate<UnwindEnd> which) {
        return ends.entrySet().stream()
                        .filter(end -> which.test(end.getKey()))
                        .mapToLong(Map.Entry::getValue)
                        .sum()
                / sum;
    }

    private static String reasons(Map<UnwindEnd, Long> ends, double sum) {
        List<String> parts = new ArrayList<>();
        ends.entrySet().stream()
                .filter(end -> isBroken(end.getKey()))
                .sorted(Map.Entry.<UnwindEnd, Long>comparingByValue().reversed())
                .limit(MOST_NOTES)
                .forEach(end -> {
                    double share = 100 * end.getValue() / sum;
                    parts.add(String.format(Locale.ROOT, "%s %.1f %%", end.getKey().text(), share));
                });
        return String.join(", ", parts);
    }
}
