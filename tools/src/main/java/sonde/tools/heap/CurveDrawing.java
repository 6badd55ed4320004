package sonde.tools.heap;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.heap.HeapMoment;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSums;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.event.result.Unit;
import sonde.exchange.heap.HeapFile;
import sonde.view.NumberText;

/**
 * The heap over time as massif's ms_print draws it: {@code #} is the column of the peak, {@code @}
 * one that has a tree, {@code :} any other.
 */
final class CurveDrawing {
    private static final int COLUMNS = 72;

    private final HeapFile file;
    private final int rows;
    private final List<HeapMoment> curve;

    private CurveDrawing(HeapFile file, int rows) {
        this.file = file;
        this.rows = rows;
        this.curve = file.profile().curve();
    }

    static TextLayout of(HeapFile file, int rows) {
        return new TextLayout(table(file.profile()), new CurveDrawing(file, rows)::write);
    }

    private static Table table(HeapProfile profile) {
        boolean nanos = profile.timeUnit().equals("ns");
        TableBuilder<HeapMoment> table = new TableBuilder<>("curve");
        table.column(
                nanos ? "time" : profile.timeUnit(),
                nanos ? Unit.NANOS : Unit.COUNT,
                HeapMoment::nanos);
        table.bytes("heap", HeapMoment::liveBytes);
        table.count("blocks", moment -> orNull(moment.liveBlocks()));
        table.bytes("RSS", moment -> orNull(moment.residentBytes()));
        return table.table(profile.curve());
    }

    private static @Nullable Long orNull(long value) {
        return value == HeapSums.UNKNOWN ? null : value;
    }

    private void write(PrintWriter out) {
        out.println("curve");
        if (curve.isEmpty()) {
            out.println("  none");
            return;
        }
        long first = Math.min(0, curve.getFirst().nanos());
        long last = Math.max(first + 1, curve.getLast().nanos());
        long[] heights = new long[COLUMNS];
        char[] marks = new char[COLUMNS];
        Arrays.fill(heights, -1);
        Arrays.fill(marks, ':');
        for (HeapMoment moment : curve) {
            int column = column(moment.nanos(), first, last);
            heights[column] = Math.max(heights[column], moment.liveBytes());
        }
        file.detailed().forEach(time -> marks[column(time, first, last)] = '@');
        int peak = column(Math.max(first, file.profile().peakNanos()), first, last);
        long before = 0; // the peak is one moment, others last until the next look
        for (int column = 0; column < COLUMNS; column++) {
            if (heights[column] < 0) {
                heights[column] = before;
            } else if (column != peak) {
                before = heights[column];
            }
        }
        marks[peak] = '#';
        long most = Math.max(1, Arrays.stream(heights).max().orElse(1));
        String top = NumberText.text(Unit.BYTES, most, false);
        int width = Math.max(8, top.length());
        for (int row = rows; row > 0; row--) {
            StringBuilder text = new StringBuilder();
            String label = row == rows ? top : "";
            text.append(" ".repeat(2 + width - label.length())).append(label);
            text.append(row == rows ? '^' : '|');
            for (int column = 0; column < COLUMNS; column++) {
                boolean filled = heights[column] * (double) rows > most * (row - 1.0);
                text.append(filled && heights[column] > 0 ? marks[column] : ' ');
            }
            out.println(text.toString().stripTrailing());
        }
        String end = time(last);
        out.println(" ".repeat(1 + width) + "0 +" + "-".repeat(COLUMNS - 1) + ">");
        out.println(
                " ".repeat(3 + width)
                        + "0"
                        + " ".repeat(Math.max(1, COLUMNS - end.length()))
                        + end);
    }

    private int column(long time, long first, long last) {
        double share = (double) (time - first) / (last - first);
        return Math.clamp(Math.round(share * (COLUMNS - 1)), 0, COLUMNS - 1);
    }

    private String time(long value) {
        return switch (file.profile().timeUnit()) {
            case "B" -> NumberText.text(Unit.BYTES, value, false);
            case "i" -> NumberText.text(Unit.COUNT, value, false) + " instructions";
            case "calls" -> NumberText.text(Unit.COUNT, value, false) + " calls";
            default -> NumberText.text(Unit.NANOS, value, false);
        };
    }
}
