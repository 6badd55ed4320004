package sonde.lang.output;

import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/** A part of a script as messages of a run show it. */
final class SourceContext {
    private static final int MAX_LINES = 50;
    private static final int TAB = 4;

    private SourceContext() {}

    private static int lastLine(SourceSpan span) {
        return span.source().line(Math.max(span.from(), span.to()));
    }

    /** {@code "stdin:1:9-62"}, of several lines {@code "stdin:1-3"}. */
    static String place(SourceSpan span) {
        int first = span.source().line(span.from());
        int last = lastLine(span);
        return first == last ? span.place() : span.source().name() + ":" + first + "-" + last;
    }

    /** The line with marks below, or all the lines. */
    static void lines(SourceSpan span, TextSink out) {
        SourceText source = span.source();
        int first = source.line(span.from());
        int last = lastLine(span);
        if (first != last) {
            for (int line = first; line <= Math.min(last, first + MAX_LINES); line++) {
                out.foreign(source.lineText(line));
                out.put('\n');
            }
            return;
        }
        String text = source.lineText(first);
        int from = source.column(span.from()) - 1;
        int to = Math.min(text.length(), source.column(span.to()) - 1);
        StringBuilder marks = new StringBuilder();
        for (int i = 0; i < to; i++) {
            marks.repeat(i < from ? ' ' : '~', text.charAt(i) == '\t' ? TAB : 1);
        }
        out.foreign(text.replace("\t", " ".repeat(TAB)));
        out.put('\n');
        out.put(marks.toString());
        out.put('\n');
    }
}
