package sonde.view;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import sonde.event.result.CallTree;
import sonde.event.result.Document;
import sonde.event.result.Histogram;
import sonde.event.result.IncidentList;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.LiveResult;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.RowStream;
import sonde.event.result.Table;
import sonde.event.result.TextLayout;
import sonde.event.result.Timeline;

/**
 * Results as UTF-8 text for people; without {@link TerminalStyle#unicode} all that sonde itself
 * writes is ASCII. Whatever a traced program put into a name arrives {@link TextEscape escaped}: no
 * byte of it can move the cursor, change a colour or begin a new line.
 */
public final class TextRenderer {
    /**
     * What of a call tree is left out.
     *
     * @param minShare callees below this share of the whole are summed up in one line
     * @param maxDepth branchings shown below each other
     */
    public record TreeLimits(double minShare, int maxDepth) {
        /** Half a percent, 48 branchings. */
        public static final TreeLimits DEFAULT = new TreeLimits(0.005, 48);
    }

    private static final int MAX_NESTING = 16;

    private final TreeLimits limits;

    /** With {@link TreeLimits#DEFAULT}. */
    public TextRenderer() {
        this(TreeLimits.DEFAULT);
    }

    /** With other limits for call trees. */
    public TextRenderer(TreeLimits limits) {
        this.limits = limits;
    }

    /**
     * Writes a result and flushes; a {@link LiveResult} one until it has ended. {@code out} stays
     * open.
     *
     * @throws IOException when {@code out}, the rows of a listing or the ticks of a live result
     *     fail
     */
    public void render(Result result, OutputStream out, TerminalStyle style) throws IOException {
        new TextRendering(out, style).render(result, "", 0);
        out.flush();
    }

    private final class TextRendering {
        private final OutputStream out;
        private final TerminalStyle style;

        TextRendering(OutputStream out, TerminalStyle style) {
            this.out = out;
            this.style = style;
        }

        private void render(Result result, String indent, int nesting) throws IOException {
            if (nesting > MAX_NESTING) {
                throw new IllegalArgumentException("reports nested deeper than " + MAX_NESTING);
            }
            StringBuilder text = new StringBuilder();
            boolean headed = !(result instanceof Document || result instanceof TextLayout);
            if (headed && !result.title().isEmpty()) {
                String title = TextEscape.line(result.title());
                text.append(indent).append(style.bold(title)).append('\n');
            }
            String inner = result.title().isEmpty() ? indent : indent + "  ";
            switch (result) {
                case Table table -> TextTable.append(text, inner, table, style);
                case Histogram histogram -> TextHistogram.append(text, inner, histogram, style);
                case CallTree tree -> TextTree.append(text, inner, tree, style, limits);
                case Timeline timeline -> TextTimeline.append(text, inner, timeline, style);
                case Report report -> {
                    report(report, text, indent, nesting);
                    return;
                }
                case Listing listing -> {
                    write(text);
                    listing(listing);
                    return;
                }
                case RowStream rows -> {
                    write(text);
                    new RowWriter(rows, out).table(style);
                    return;
                }
                case Document document -> {
                    render(document.shown(), indent, nesting);
                    return;
                }
                case IncidentList list -> {
                    render(list.shown(), indent, nesting);
                    return;
                }
                case TextLayout layout -> {
                    listing(Listing.ofLines(layout.lines()));
                    return;
                }
                case LiveResult live -> {
                    write(text);
                    live(live, indent, nesting);
                    return;
                }
            }
            write(text);
        }

        private void report(Report report, StringBuilder text, String indent, int nesting)
                throws IOException {
            for (String sentence : report.answer()) {
                TextNote.append(text, indent, sentence, style);
            }
            if (!report.answer().isEmpty()) {
                text.append('\n');
            }
            for (String note : report.notes()) {
                TextNote.append(text, indent, note, style);
            }
            write(text);
            // The line behind the answer is there already.
            boolean separated = !report.answer().isEmpty() && report.notes().isEmpty();
            boolean first = text.isEmpty() || separated;
            for (Result section : report.sections()) {
                if (!first) {
                    out.write('\n');
                }
                first = false;
                render(section, indent, nesting + 1);
            }
        }

        private void listing(Listing listing) throws IOException {
            ListingRenderer.render(listing, ListingForm.TEXT, out);
        }

        private void live(LiveResult live, String indent, int nesting) throws IOException {
            Result state = live.ticks().next();
            while (state != null) {
                render(state, indent, nesting + 1);
                out.flush();
                state = live.ticks().next();
                // Lines of events go on where the ones before ended.
                if (state != null && !(state instanceof Listing)) {
                    out.write('\n');
                }
            }
        }

        private void write(StringBuilder text) throws IOException {
            String escaped = TextEscape.wellFormed(text.toString());
            String drawn = style.unicode() ? escaped : TextEscape.ascii(escaped);
            out.write(drawn.getBytes(StandardCharsets.UTF_8));
        }
    }
}
