package sonde.view;

import org.jspecify.annotations.Nullable;
import sonde.event.result.Histogram;
import sonde.event.result.Histogram.Bound;
import sonde.event.result.Unit;

/** A histogram with a bar for each range, the fullest as long as there is room. */
final class TextHistogram {
    private static final String EIGHTHS = " ▏▎▍▌▋▊▉█";
    private static final int BAR = 40;

    private TextHistogram() {}

    static void append(StringBuilder out, String indent, Histogram histogram, TerminalStyle style) {
        if (histogram.buckets().isEmpty()) {
            out.append(indent).append(style.dim("none")).append('\n');
            return;
        }
        int from = 0;
        int to = 0;
        int count = 0;
        long most = 1;
        for (Histogram.Bucket bucket : histogram.buckets()) {
            from = Math.max(from, edge(histogram, bucket.from(), style).length());
            to = Math.max(to, edge(histogram, bucket.to(), style).length());
            count = Math.max(count, count(bucket).length());
            most = Math.max(most, bucket.count());
        }
        int used = indent.length() + from + to + count + 7;
        int room = style.width() == 0 ? BAR : Math.max(4, Math.min(BAR, style.width() - used));
        for (Histogram.Bucket bucket : histogram.buckets()) {
            String line =
                    CellWidths.padLeft(edge(histogram, bucket.from(), style), from)
                            + (style.unicode() ? " – " : " - ")
                            + CellWidths.padLeft(edge(histogram, bucket.to(), style), to)
                            + "  "
                            + CellWidths.padLeft(count(bucket), count);
            String bar = bar((double) bucket.count() / most, room, style);
            out.append(indent).append(line);
            out.append(bar.isEmpty() ? "" : "  " + style.sgr("36", bar)).append('\n');
        }
    }

    /** A bar of a share of the room; anything above zero is seen. */
    static String bar(double share, int room, TerminalStyle style) {
        if (!style.unicode()) {
            return "#".repeat((int) Math.ceil(share * room));
        }
        int eighths = (int) Math.ceil(share * room * 8);
        String rest = eighths % 8 == 0 ? "" : EIGHTHS.substring(eighths % 8, eighths % 8 + 1);
        return "█".repeat(eighths / 8) + rest;
    }

    private static String edge(Histogram histogram, @Nullable Bound bound, TerminalStyle style) {
        if (bound == null) {
            return style.unicode() ? "…" : "...";
        }
        return bound.label().isEmpty()
                ? NumberText.text(histogram.unit(), bound.number(), style.unicode())
                : bound.label();
    }

    private static String count(Histogram.Bucket bucket) {
        return NumberText.text(Unit.COUNT, bucket.count(), true);
    }
}
