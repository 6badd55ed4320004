package sonde.event.result;

import java.util.List;

/**
 * A page: sentences, then sections.
 *
 * @param answer sentences that say what was slow or stuck, and why; empty where nothing is clear
 * @param notes sentences that stand before the sections, most important first
 * @param sections shown in order
 */
public record Report(String title, List<String> answer, List<String> notes, List<Result> sections)
        implements Result {
    /** A page that judges nothing. */
    public Report(String title, List<String> notes, List<Result> sections) {
        this(title, List.of(), notes, sections);
    }

    public Report {
        answer = List.copyOf(answer);
        notes = List.copyOf(notes);
        sections = List.copyOf(sections);
    }
}
