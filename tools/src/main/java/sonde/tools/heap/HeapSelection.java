package sonde.tools.heap;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;
import sonde.event.result.Unit;
import sonde.exchange.heap.HeapFile;
import sonde.view.NumberText;

/** Parts of a profile: stacks with a function, leaks without those that are suppressed. */
final class HeapSelection {
    private static final int MOST_PATTERNS = 10_000;

    private HeapSelection() {}

    /** The stacks in which a function has this text in its name, as heaptrack_print takes it. */
    static HeapFile with(HeapFile file, String function) {
        HeapProfile one = file.profile();
        List<HeapStack> stacks =
                one.stacks().stream()
                        .filter(stack ->
                                stack.frames().stream()
                                        .anyMatch(frame -> frame.name().contains(function)))
                        .toList();
        HeapSums totals =
                stacks.stream().map(HeapStack::sums).reduce(HeapSums::plus).orElse(HeapSums.NONE);
        List<String> notes = new ArrayList<>(one.notes());
        notes.add(
                "Numbers are of "
                        + stacks.size()
                        + " of "
                        + one.stacks().size()
                        + " stacks, in which a function has '"
                        + function
                        + "' in its name; their peak is what they had when the whole heap was"
                        + " largest.");
        return replaced(file, totals, stacks, notes, false);
    }

    private static HeapFile replaced(
            HeapFile file,
            HeapSums totals,
            List<HeapStack> stacks,
            List<String> notes,
            boolean whole) {
        HeapProfile one = file.profile();
        HeapProfile profile =
                new HeapProfile(
                        one.command(),
                        one.source(),
                        one.nanos(),
                        one.timeUnit(),
                        totals,
                        one.peakNanos(),
                        one.peakResident(),
                        stacks,
                        whole ? one.curve() : List.of(),
                        whole ? one.sizes() : List.of(),
                        one.faults(),
                        notes);
        return new HeapFile(profile, file.suppressions(), file.detailed());
    }

    /** The patterns of a file with a line {@code leak:PATTERN} for each, as LSan has them. */
    static List<String> patterns(Path file) throws IOException {
        List<String> patterns = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            String text = line.strip();
            if (text.startsWith("leak:") && patterns.size() < MOST_PATTERNS) {
                patterns.add(text.substring("leak:".length()));
            } else if (!text.isEmpty() && !text.startsWith("#")) {
                throw new IOException(file + ": not a suppression: " + text);
            }
        }
        return patterns;
    }

    /**
     * Leaves out leaks whose stack has a function, file or module that a pattern matches. The
     * totals stay those of the program.
     */
    static HeapFile without(HeapFile file, List<String> patterns) {
        if (patterns.isEmpty()) {
            return file;
        }
        List<HeapStack> stacks = new ArrayList<>();
        Map<String, HeapSums> matched = new TreeMap<>();
        for (HeapStack stack : file.profile().stacks()) {
            HeapSums sums = stack.sums();
            String pattern = sums.liveBytes() > 0 ? matching(patterns, stack) : null;
            if (pattern != null) {
                matched.merge(pattern, sums, HeapSums::plus);
                sums =
                        new HeapSums(
                                sums.calls(),
                                sums.bytes(),
                                0,
                                0,
                                sums.peakBlocks(),
                                sums.peakBytes(),
                                sums.temporary(),
                                sums.oldestNanos());
            }
            stacks.add(new HeapStack(stack.pid(), stack.frames(), sums));
        }
        List<String> notes = new ArrayList<>(file.profile().notes());
        matched.forEach((pattern, sums) ->
                notes.add(
                        "Suppressed by leak:"
                                + pattern
                                + ": "
                                + NumberText.text(Unit.BYTES, sums.liveBytes(), true)
                                + " that were not freed. The totals have them."));
        return replaced(file, file.profile().totals(), stacks, notes, true);
    }

    private static @org.jspecify.annotations.Nullable String matching(
            List<String> patterns, HeapStack stack) {
        for (String pattern : patterns) {
            for (Frame frame : stack.frames()) {
                if (matches(pattern, frame.name())
                        || matches(pattern, frame.file())
                        || matches(pattern, frame.module())) {
                    return pattern;
                }
            }
        }
        return null;
    }

    /**
     * Whether a text has a part as LSan's patterns say: {@code *} stands for anything, {@code ^}
     * and {@code $} for the begin and the end.
     */
    static boolean matches(String pattern, String text) {
        boolean begins = pattern.startsWith("^");
        boolean ends = pattern.endsWith("$");
        String middle = pattern.substring(begins ? 1 : 0, pattern.length() - (ends ? 1 : 0));
        String[] parts = middle.split("\\*", -1);
        if (text.isEmpty()) {
            return false;
        }
        int at = 0;
        for (int i = 0; i < parts.length; i++) {
            int found = text.indexOf(parts[i], at);
            if (i == parts.length - 1 && ends) {
                found = text.endsWith(parts[i]) ? text.length() - parts[i].length() : -1;
            }
            if (found < at || i == 0 && begins && found > 0) {
                return false;
            }
            at = found + parts[i].length();
        }
        return true;
    }
}
