package sonde.recording.text;

import sonde.recording.BatchWriter;

/** Rows of a table without times, each with fields and how often it was counted. */
abstract class CountItems extends TextItems {
    private static final int MOST_FRAMES = 512;

    final CountText model;
    final KeyValueTokens tokens = new KeyValueTokens();
    final long[] frames = new long[MOST_FRAMES];
    int depth;
    long weight;
    long lineOffset;
    int lineBytes;

    CountItems(CountText model, LineWindow lines) {
        super(model, lines);
        this.model = model;
    }

    @Override
    int itemRows() {
        return 1;
    }

    @Override
    long itemTime(int row) {
        return 0;
    }

    @Override
    void learnItem(int row) {
        model.rows.learn(tokens);
    }

    @Override
    void writeItem(BatchWriter out, int row, long time) {
        out.begin(time, -1, -1, model.rows.type());
        model.rows.putLine(out, lineOffset, lineBytes);
        model.rows.put(out, tokens);
        out.sample(-1, weight);
        if (depth > 0) {
            out.stack(frames, depth);
        }
        out.end();
    }
}
