package sonde.recording.text;

import sonde.recording.BatchWriter;

/** Rows of stacks with counts. */
abstract class StackItems extends TextItems {
    private static final int MOST_FRAMES = 1024;

    final StackText model;
    final long[] frames = new long[MOST_FRAMES];
    private final byte[] scratch = TextFrames.scratch();
    int depth;
    long weight;
    int tid;
    long lineOffset;
    int lineBytes;

    StackItems(StackText model, LineWindow lines) {
        super(model, lines);
        this.model = model;
    }

    /** Adds a caller's or callee's frame; more than there is room for are dropped. */
    final void push(byte[] b, int from, int to, int moduleFrom, int moduleTo) {
        if (depth < MOST_FRAMES) {
            frames[depth++] =
                    model.learning
                            ? model.frames.add(b, from, to, moduleFrom, moduleTo)
                            : model.frames.find(b, from, to, moduleFrom, moduleTo, scratch);
        }
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
    void learnItem(int row) {}

    @Override
    void writeItem(BatchWriter out, int row, long time) {
        out.begin(time, -1, tid, model.samples.type());
        model.samples.putLine(out, lineOffset, lineBytes);
        out.sample(-1, weight);
        out.stack(frames, depth);
        out.end();
    }
}
