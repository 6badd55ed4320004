package sonde.exchange.export;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a format could not hold, counted. */
public final class ExportLosses {
    private final Map<String, Long> counts = new TreeMap<>();

    /** None yet. */
    public ExportLosses() {
        counts.clear();
    }

    /** Something was not written. */
    void add(String what) {
        add(what, 1);
    }

    /** So many of something were not written. */
    void add(String what, long count) {
        counts.merge(what, count, Long::sum);
    }

    /** What was not written, with how many of it. */
    public Map<String, Long> counts() {
        return Map.copyOf(counts);
    }

    /** A line for each: {@code "12 × sched:sched_switch"}. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        counts.forEach((what, count) -> lines.add(count + " × " + what));
        return lines;
    }
}
