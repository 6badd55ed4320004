package sonde.tools.explain;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A report whose lines are collected. */
final class OpenReport {
    IncidentKind kind;
    final Map<String, String> fields = new LinkedHashMap<>();

    /** Lines of the same context before the first one. */
    final List<LogLine> before;

    final List<LogLine> lines = new ArrayList<>();
    final LogStamp stamp;

    /** Unknown words before the kernel's text; null for none. */
    @Nullable Pattern shape;

    boolean panicked;

    /** The kernel lost messages while it printed the report. */
    boolean dropped;

    boolean closed;

    /** Lines since the last one that looks like a part of a report. */
    int idle;

    OpenReport(IncidentKind kind, LogStamp stamp, List<LogLine> before) {
        this.kind = kind;
        this.stamp = stamp;
        this.before = before;
    }
}
