package sonde.event.result;

import java.util.List;

/**
 * A page: sentences, then sections.
 *
 * @param notes sentences that stand before the sections, most important first
 * @param sections shown in order
 */
public record Report(String title, List<String> notes, List<Result> sections) implements Result {
    public Report {
        notes = List.copyOf(notes);
        sections = List.copyOf(sections);
    }
}
