package sonde.tools.report;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What to show of a recording.
 *
 * @param sections shown in the order of {@link Section}
 * @param fromSeconds start of the part that counts; null for the beginning. Seconds from the start
 *     of the recording, or of its clock when larger than the recording is long
 * @param toSeconds end of it, alike
 * @param tids threads that count; empty for all
 * @param comms names of threads that count, {@code *} and {@code ?} as in a shell; empty for all
 * @param events event types to list, {@code system:name} with the same wildcards; empty for all
 * @param rows most rows of a table
 * @param listing how events are listed
 * @param stacks how samples are added up and their chains shown
 */
public record ReportOptions(
        Set<Section> sections,
        @Nullable Double fromSeconds,
        @Nullable Double toSeconds,
        Set<Integer> tids,
        List<String> comms,
        List<String> events,
        int rows,
        ListingOptions listing,
        StackOptions stacks) {

    /** A part of a report. */
    public enum Section {
        SUMMARY,
        THREADS,
        ONCPU,
        OFFCPU,
        SYSCALLS,
        IO,
        FAULTS,
        FILES,
        WAKEUPS,
        LOSSES,
        STATS,
    }

    public ReportOptions {
        sections = Set.copyOf(sections);
        tids = Set.copyOf(tids);
        comms = List.copyOf(comms);
        events = List.copyOf(events);
    }

    /** With events listed as trace-cmd report does. */
    public ReportOptions(
            Set<Section> sections,
            @Nullable Double fromSeconds,
            @Nullable Double toSeconds,
            Set<Integer> tids,
            List<String> comms,
            List<String> events,
            int rows) {
        this(
                sections,
                fromSeconds,
                toSeconds,
                tids,
                comms,
                events,
                rows,
                ListingOptions.ALL,
                StackOptions.DEFAULT);
    }

    /** The screenful. */
    public static ReportOptions summary() {
        return of(EnumSet.of(Section.SUMMARY));
    }

    /** These sections of everything. */
    public static ReportOptions of(Set<Section> sections) {
        return new ReportOptions(sections, null, null, Set.of(), List.of(), List.of(), 40);
    }

    /** Whether anything is asked for but the whole recording. */
    boolean isFiltered() {
        return fromSeconds != null || toSeconds != null || !tids.isEmpty() || !comms.isEmpty();
    }

    /** As {@link #isFiltered}, or for some event types. */
    boolean isNarrow() {
        return isFiltered() || !events.isEmpty();
    }

    boolean has(Section section) {
        return sections.contains(section);
    }

    /** Whether a text fits one of the patterns; always without patterns. */
    static boolean fits(List<String> patterns, String text) {
        if (patterns.isEmpty()) {
            return true;
        }
        for (String pattern : patterns) {
            StringBuilder regex = new StringBuilder();
            for (char c : pattern.toCharArray()) {
                switch (c) {
                    case '*' -> regex.append(".*");
                    case '?' -> regex.append('.');
                    default -> regex.append(Pattern.quote(String.valueOf(c)));
                }
            }
            if (Pattern.compile(regex.toString(), Pattern.DOTALL).matcher(text).matches()) {
                return true;
            }
        }
        return false;
    }
}
