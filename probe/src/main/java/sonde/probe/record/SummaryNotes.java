package sonde.probe.record;

import java.util.ArrayList;
import java.util.List;

/** Sentences for the summary, from any thread. */
final class SummaryNotes {
    /** A source that fails again and again may not fill meta.json. */
    private static final int MAX_NOTES = 1000;

    private final List<String> sentences = new ArrayList<>();

    synchronized void add(String sentence) {
        if (sentences.size() < MAX_NOTES) {
            sentences.add(sentence);
        }
    }

    synchronized List<String> all() {
        return List.copyOf(sentences);
    }
}
