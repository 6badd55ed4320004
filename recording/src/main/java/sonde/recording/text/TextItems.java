package sonde.recording.text;

import sonde.recording.BatchWriter;

/**
 * Takes a text apart into items: a line, or a line and those that belong to it, which stand for one
 * row or a few. A run of lines that nobody understands is an item too, a {@code notice:corrupt}.
 */
abstract class TextItems {
    /** What {@link #parse} found. */
    enum Verdict {
        /** An item. */
        ITEM,
        /** A comment, a header, an empty line. */
        NOTHING,
        /** Something that does not follow the format. */
        BAD,
    }

    final LineWindow lines;
    private final TextModel model;
    private long offset;
    private long corrupt;
    private long corruptOffset;
    private boolean pending;
    private long lastTime;

    TextItems(TextModel model, LineWindow lines) {
        this.model = model;
        this.lines = lines;
    }

    /** Looks at the line that {@link #lines} stands on, and reads those that belong to it. */
    abstract Verdict parse();

    /** Rows of the item, at least 1. */
    abstract int itemRows();

    /** The time of one of its rows. */
    abstract long itemTime(int row);

    /** Takes a row into account for the types. */
    abstract void learnItem(int row);

    /** Begins, fills and ends a row. */
    abstract void writeItem(BatchWriter out, int row, long time);

    /** The buffer the item belongs to, by number in {@link TextModel#buffers}. */
    int buffer() {
        return 0;
    }

    /** Goes to the next item; false at the end. */
    final boolean next() {
        if (pending) {
            pending = false;
            corrupt = 0;
            lastTime = itemTime(0);
            return true;
        }
        corrupt = 0;
        while (lines.next()) {
            long at = lines.offset;
            switch (parse()) {
                case ITEM -> {
                    offset = at;
                    pending = corrupt > 0;
                    lastTime = pending ? lastTime : itemTime(itemRows() - 1);
                    return true;
                }
                case BAD -> {
                    if (corrupt++ == 0) {
                        corruptOffset = at;
                    }
                }
                case NOTHING -> {}
            }
        }
        return corrupt > 0;
    }

    /** Makes the item at an offset the next one. */
    final void seek(long at) {
        pending = false;
        lines.seek(at);
    }

    /** Where the item begins. */
    final long offset() {
        return corrupt > 0 ? corruptOffset : offset;
    }

    /** Lines that could not be read, 0 when the item is none of them. */
    final long corrupt() {
        return corrupt;
    }

    final int rows() {
        return corrupt > 0 ? 1 : itemRows();
    }

    final long time(int row) {
        return corrupt > 0 ? lastTime : itemTime(row);
    }

    final void learn(int row) {
        if (corrupt == 0) {
            learnItem(row);
        }
    }

    final void write(BatchWriter out, int row, long time) {
        if (corrupt == 0) {
            writeItem(out, row, time);
            return;
        }
        out.begin(time, -1, -1, model.schema.corrupt);
        out.integer(model.schema.corrupt.fields().get(0), corrupt);
        out.sample(-1, corrupt);
        out.end();
    }
}
