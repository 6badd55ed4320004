package sonde.recording.text;

import sonde.event.Clock;

/**
 * A table of counts that tracefs prints: {@code hist} files, {@code kprobe_profile} and its kin.
 */
final class CountText extends TextModel {
    private static final String SYSTEM = "ftrace";

    final LearntType rows;
    private final boolean hist;

    CountText(boolean hist) {
        this.hist = hist;
        this.rows = schema.shape(SYSTEM, hist ? "hist" : "probe_profile");
    }

    @Override
    TextItems items(LineWindow lines) {
        return hist ? new HistItems(this, lines) : new ProfileItems(this, lines);
    }

    @Override
    Clock clock() {
        return Clock.UNKNOWN;
    }
}
