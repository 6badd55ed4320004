package sonde.tools.report;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.Glob;

/**
 * What to show of a recording.
 *
 * @param sections to show, in this order
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
        List<ReportSection> sections,
        @Nullable Double fromSeconds,
        @Nullable Double toSeconds,
        Set<Integer> tids,
        List<Glob> comms,
        List<Glob> events,
        int rows,
        ListingOptions listing,
        StackOptions stacks) {

    public ReportOptions {
        sections = List.copyOf(sections);
        tids = Set.copyOf(tids);
        comms = List.copyOf(comms);
        events = List.copyOf(events);
    }

    /** With events listed as trace-cmd report does. */
    public ReportOptions(
            List<ReportSection> sections,
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
                comms.stream().map(Glob::shell).toList(),
                events.stream().map(Glob::shell).toList(),
                rows,
                ListingOptions.ALL,
                StackOptions.DEFAULT);
    }

    /** These sections of everything. */
    public static ReportOptions of(List<ReportSection> sections) {
        return new ReportOptions(sections, null, null, Set.of(), List.of(), List.of(), 40);
    }

    /** Whether anything is asked for but the whole recording. */
    public boolean isFiltered() {
        return fromSeconds != null || toSeconds != null || !tids.isEmpty() || !comms.isEmpty();
    }

    /** As {@link #isFiltered}, or for some event types. */
    public boolean isNarrow() {
        return isFiltered() || !events.isEmpty();
    }

    /** Whether chains will be shown, or the lines of their functions. */
    boolean showsChains() {
        return stacks.keys().contains(StackOptions.SortKey.LINE)
                || sections.stream().anyMatch(ReportSection::showsChains);
    }

    /** Whether a text fits one of the patterns; always without patterns. */
    public static boolean fits(List<Glob> patterns, String text) {
        return patterns.isEmpty() || patterns.stream().anyMatch(one -> one.matches(text));
    }
}
