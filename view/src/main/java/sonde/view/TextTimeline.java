package sonde.view;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.Unit;

/** A timeline as one row per thread: the share of each state and a strip of what it did when. */
final class TextTimeline {
    private static final String MARKS = "█▓░·▒▚▪◦";
    private static final String ASCII_MARKS = "#=-.+*o:";
    private static final String[] COLOURS = {"32", "33", "31", "90", "36", "35", "34", "37"};
    private static final int STRIP = 48;
    private static final int MAX_TRACKS = 64;

    private final Timeline timeline;
    private final TerminalStyle style;
    private final StringBuilder out;
    private final String indent;

    private TextTimeline(StringBuilder out, String indent, Timeline timeline, TerminalStyle style) {
        this.out = out;
        this.indent = indent;
        this.timeline = timeline;
        this.style = style;
    }

    static void append(StringBuilder out, String indent, Timeline timeline, TerminalStyle style) {
        if (timeline.tracks().isEmpty()) {
            out.append(indent).append(style.dim("none")).append('\n');
            return;
        }
        new TextTimeline(out, indent, timeline, style).append();
    }

    private void append() {
        List<String> states = timeline.states();
        out.append(indent);
        for (int s = 0; s < states.size(); s++) {
            String mark = style.sgr(COLOURS[s % COLOURS.length], mark(s));
            out.append(s == 0 ? "" : "   ").append(mark).append(' ');
            out.append(TextEscape.line(states.get(s)));
        }
        out.append('\n');
        List<TimelineRow> tracks = timeline.tracks();
        List<TimelineRow> shown = tracks.subList(0, Math.min(MAX_TRACKS, tracks.size()));
        List<Column> columns = new ArrayList<>();
        columns.add(Column.text("thread"));
        for (String state : states) {
            columns.add(new Column(state, Unit.SHARE));
        }
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (TimelineRow track : shown) {
            rows.add(shares(track));
        }
        StringBuilder table = new StringBuilder();
        TerminalStyle plain = new TerminalStyle(0, false, style.unicode());
        TextTable.append(table, "", new Table("", columns, rows), plain);
        join(table.toString().split("\n", -1), shown);
        if (shown.size() < tracks.size()) {
            int more = tracks.size() - shown.size();
            out.append(indent).append(style.dim(more + " more threads")).append('\n');
        }
    }

    private List<@Nullable Object> shares(TimelineRow track) {
        double[] sums = new double[timeline.states().size()];
        for (int i = 0; i < track.starts().length; i++) {
            int state = track.spanStates()[i];
            if (state >= 0 && state < sums.length) {
                long from = Math.max(timeline.start(), track.starts()[i]);
                sums[state] += Math.max(0, Math.min(timeline.end(), track.ends()[i]) - from);
            }
        }
        List<@Nullable Object> row = new ArrayList<>();
        row.add(track.name());
        for (double sum : sums) {
            row.add(sum == 0 ? Double.NaN : sum / Math.max(1, timeline.end() - timeline.start()));
        }
        return row;
    }

    private void join(String[] lines, List<TimelineRow> shown) {
        int widest = 0;
        for (String line : lines) {
            widest = Math.max(widest, CellWidths.width(line));
        }
        int free = style.width() - indent.length() - widest - 2;
        int room = style.width() == 0 ? STRIP : Math.min(STRIP, free);
        for (int i = 0; i <= shown.size(); i++) {
            String line = lines[i];
            if (room < 8) {
                String cut = style.width() == 0 ? line : cut(line);
                out.append(indent).append(i == 0 ? style.dim(cut) : cut).append('\n');
                continue;
            }
            out.append(indent).append(i == 0 ? style.dim(line) : line);
            if (i > 0) {
                out.append(" ".repeat(widest - CellWidths.width(line) + 2));
                out.append(strip(shown.get(i - 1), room).stripTrailing());
            }
            out.append('\n');
        }
    }

    private String cut(String line) {
        return CellWidths.cut(line, Math.max(1, style.width() - indent.length()), style.unicode());
    }

    /** In each cell the state that took most of its time. */
    private String strip(TimelineRow track, int cells) {
        double length = Math.max(1, timeline.end() - timeline.start());
        int states = timeline.states().size();
        double[][] time = new double[cells][states];
        for (int i = 0; i < track.starts().length; i++) {
            int state = track.spanStates()[i];
            double from = (track.starts()[i] - timeline.start()) / length * cells;
            double to = (track.ends()[i] - timeline.start()) / length * cells;
            int last = (int) Math.min(cells, Math.ceil(to));
            for (int cell = (int) Math.max(0, from); cell < last && state >= 0; cell++) {
                if (state < states) {
                    time[cell][state] += Math.min(to, cell + 1) - Math.max(from, cell);
                }
            }
        }
        StringBuilder strip = new StringBuilder();
        for (double[] cell : time) {
            int best = -1;
            for (int s = 0; s < states; s++) {
                if (cell[s] > (best < 0 ? 0 : cell[best])) {
                    best = s;
                }
            }
            strip.append(best < 0 ? " " : style.sgr(COLOURS[best % COLOURS.length], mark(best)));
        }
        return strip.toString();
    }

    private String mark(int state) {
        String marks = style.unicode() ? MARKS : ASCII_MARKS;
        int at = state % marks.length();
        return marks.substring(at, at + 1);
    }
}
