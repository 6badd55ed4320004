package sonde.format.ftrace;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;

/**
 * All events of a recording as text, by time over all lanes; of equal times the earlier lane's
 * first.
 */
public final class EventListing {
    private static final int DRAIN_BYTES = 1 << 16;

    private final List<Position> positions = new ArrayList<>();
    private final EventText text;
    private final int nameColumns;

    /** Where a lane stands. */
    private static final class Position {
        private final Lane lane;
        private final String label;
        private @Nullable Batch batch;
        private int row;
        private long time;

        Position(Lane lane, String label) {
            this.lane = lane;
            this.label = label;
        }

        void load() throws IOException {
            batch = lane.next();
            row = 0;
            if (batch != null) {
                time = batch.time(0);
            }
        }

        void step() throws IOException {
            Batch current = batch;
            if (current != null && ++row < current.size()) {
                time = current.time(row);
            } else {
                load();
            }
        }
    }

    /** A listing of lanes that stand at their start; they are closed at its end. */
    public EventListing(List<Lane> lanes, EventText text) {
        this.text = text;
        int columns = 0;
        for (Lane lane : lanes) {
            columns = Math.max(columns, lane.buffer().length());
        }
        this.nameColumns = columns;
        for (Lane lane : lanes) {
            positions.add(new Position(lane, label(lane.buffer(), columns)));
        }
    }

    private static String label(String buffer, int columns) {
        if (columns == 0) {
            return "";
        }
        String padded = " ".repeat(columns - buffer.length()) + buffer;
        return padded + (buffer.isEmpty() ? "  " : ": ");
    }

    /** Writes every event; returns how many. */
    public long writeTo(OutputStream out) throws IOException {
        TextBuffer buffer = new TextBuffer(DRAIN_BYTES * 2);
        long count = 0;
        try {
            for (Position position : positions) {
                position.load();
            }
            for (Position first = first(null); first != null; first = first(null)) {
                count++;
                write(buffer, first);
                if (buffer.size() >= DRAIN_BYTES) {
                    buffer.drainTo(out);
                }
            }
            buffer.drainTo(out);
        } finally {
            positions.forEach(position -> position.lane.close());
        }
        return count;
    }

    private void write(TextBuffer buffer, Position first) throws IOException {
        Batch batch = first.batch;
        if (batch == null) {
            return;
        }
        if (nameColumns > 0) {
            buffer.put(first.label);
        }
        int row = first.row;
        if (!text.looksAhead(batch.type(row))) {
            text.append(buffer, batch, row);
            first.step();
            return;
        }
        batch.retain();
        first.step();
        // Only the function graph looks at what comes next, in its own buffer.
        Position next = first(first.lane.buffer());
        Batch nextBatch = next == null ? null : next.batch;
        boolean both =
                nextBatch == null || next == null
                        ? text.append(buffer, batch, row, null, 0)
                        : text.append(buffer, batch, row, nextBatch, next.row);
        batch.release();
        if (both && next != null) {
            next.step();
        }
    }

    private @Nullable Position first(@Nullable String buffer) {
        Position first = null;
        for (Position position : positions) {
            boolean fits = buffer == null || position.lane.buffer().equals(buffer);
            if (position.batch != null
                    && fits
                    && (first == null || Long.compareUnsigned(position.time, first.time) < 0)) {
                first = position;
            }
        }
        return first;
    }
}
