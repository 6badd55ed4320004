package sonde.tools.heap;

import java.util.List;
import java.util.Set;

/**
 * What of a profile is shown.
 *
 * @param sections the names of those asked for; empty for the summary
 * @param rows most rows of a table
 * @param stacks most stacks below a function; 0 for none
 * @param merged whether stacks with the same allocating function are one row
 * @param momentText the time of the tree as it was given; empty for none
 */
record HeapView(
        String title,
        Set<String> sections,
        int rows,
        int stacks,
        boolean merged,
        String momentText,
        List<String> notes) {
    /** Sections that are too long for a summary. */
    private static final Set<String> LONG = Set.of("tree", "sizes");

    /** Everything but what a page shows as flame graphs. */
    HeapView onPage() {
        Set<String> all =
                Set.of("peak", "leaked", "allocations", "temporary", "allocated", "curve", "sizes");
        return new HeapView(title, all, Integer.MAX_VALUE, 0, merged, momentText, notes);
    }

    boolean isSummary() {
        return sections.isEmpty();
    }

    boolean shows(String section) {
        return isSummary() ? !LONG.contains(section) : sections.contains(section);
    }
}
