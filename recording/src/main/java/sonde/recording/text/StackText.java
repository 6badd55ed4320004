package sonde.recording.text;

import sonde.event.Clock;

/** Stacks with counts and without times: folded, or in blocks as DTrace prints an aggregation. */
final class StackText extends TextModel {
    /** One row a stack, its weight the count. */
    final LearntType samples = schema.shape("profile", "samples");

    /** Names of threads; more than these are one of number 0. */
    final ByteTable threads = new ByteTable(1 << 16);

    private final boolean folded;

    StackText(boolean folded) {
        this.folded = folded;
    }

    @Override
    TextItems items(LineWindow lines) {
        return folded ? new FoldedItems(this, lines) : new BlockItems(this, lines);
    }

    @Override
    Clock clock() {
        return Clock.UNKNOWN;
    }
}
