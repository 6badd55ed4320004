package sonde.tools.option;

import java.util.Map;

/** The kind of value that an option takes; completion offers words by it. */
public enum ValueKind {
    /** No value. */
    FLAG,
    TEXT,
    /** A whole number, with a sign where the unit is NANOS. */
    NUMBER,
    /** A process or a thread. */
    PROCESS,
    /** A time with its unit: {@code 500ms}. */
    TIME,
    FILE,
    FOLDER,
    /** One of the words that the label lists: {@code us|ns|raw}. */
    CHOICE,
    URL;

    private static final Map<String, ValueKind> BY_LABEL =
            Map.ofEntries(
                    Map.entry("N", NUMBER),
                    Map.entry("HZ", NUMBER),
                    Map.entry("MIB", NUMBER),
                    Map.entry("COUNT", NUMBER),
                    Map.entry("NANOS", NUMBER),
                    Map.entry("ID", NUMBER),
                    Map.entry("PID", PROCESS),
                    Map.entry("TID", PROCESS),
                    Map.entry("TIME", TIME),
                    Map.entry("FILE", FILE),
                    Map.entry("PATH", FILE),
                    Map.entry("DIR", FOLDER),
                    Map.entry("URL", URL));

    /** That of a label without brackets and dots; an empty one is a flag's. */
    static ValueKind of(String label) {
        if (label.isEmpty()) {
            return FLAG;
        }
        return label.chars().allMatch(c -> c >= 'a' && c <= 'z' || "0123456789|-.".indexOf(c) >= 0)
                ? CHOICE
                : BY_LABEL.getOrDefault(label, TEXT);
    }
}
