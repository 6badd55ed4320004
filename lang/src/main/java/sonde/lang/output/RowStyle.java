package sonde.lang.output;

import java.util.List;
import java.util.Set;

/**
 * How lines are shown that a script prints below a head line with the names of their columns.
 *
 * @param sortedBy lists of lines, which end with an empty one, are put in order by the sum of these
 *     columns, the largest first: {@code "R_KIB"}; none for lines that come one by one
 * @param rows of a list; 0 for all
 * @param clears whether a list takes the place of the one before on the terminal
 * @param hidden columns that people do not see; JSON has all
 */
public record RowStyle(List<String> sortedBy, int rows, boolean clears, Set<String> hidden) {
    /** As they come. */
    public static final RowStyle PLAIN = new RowStyle(List.of(), 0, false, Set.of());

    /** Keeps copies. */
    public RowStyle {
        sortedBy = List.copyOf(sortedBy);
        hidden = Set.copyOf(hidden);
    }

    /** Where there is no screen. */
    public RowStyle onPaper() {
        return new RowStyle(sortedBy, rows, false, hidden);
    }

    /** As JSON has them. */
    RowStyle whole() {
        return new RowStyle(sortedBy, rows, false, Set.of());
    }
}
