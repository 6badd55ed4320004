package sonde.recording.text;

import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Source;
import sonde.recording.BatchWriter;

/** The rows of one buffer of a text, as they lie or in the order that was made for them. */
final class TextLane implements Lane {
    private final Source source;
    private final TextItems items;
    private final String name;
    private final int buffer;
    private final @Nullable RowSorter order;
    private final BatchWriter writer;
    private int next;
    private int row = -1;
    private long last = Long.MIN_VALUE;

    TextLane(Source source, TextItems items, String name, int buffer, @Nullable RowSorter order) {
        this.source = source;
        this.items = items;
        this.name = name;
        this.buffer = buffer;
        this.order = order;
        this.writer = new BatchWriter(source);
    }

    @Override
    public Source source() {
        return source;
    }

    @Override
    public String buffer() {
        return name;
    }

    @Override
    public @Nullable Batch next() {
        writer.clear();
        RowSorter sorted = order;
        if (sorted == null) {
            inPlace();
        } else {
            sorted(sorted);
        }
        return writer.batch().size() == 0 ? null : writer.batch();
    }

    private void inPlace() {
        while (!writer.isFull()) {
            if (row < 0) {
                if (!items.next()) {
                    return;
                }
                if (items.buffer() != buffer) {
                    continue;
                }
                row = 0;
            }
            last = Math.max(last, items.time(row));
            items.write(writer, row, last);
            row = row + 1 < items.rows() ? row + 1 : -1;
        }
    }

    private void sorted(RowSorter sorted) {
        for (; next < sorted.size() && !writer.isFull(); next++) {
            items.seek(sorted.offset(next));
            if (items.next()) {
                items.write(
                        writer, Math.min(sorted.row(next), items.rows() - 1), sorted.time(next));
            }
        }
    }

    @Override
    public void close() {}
}
