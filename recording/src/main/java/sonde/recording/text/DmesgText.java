package sonde.recording.text;

import sonde.event.Clock;
import sonde.event.EventType;
import sonde.recording.TypeBuilder;

/** A text of the kernel's log as a whole. */
final class DmesgText extends TextModel {
    /** A line of the log; level and facility are -1 where the text does not say. */
    final EventType message =
            schema.fixed(
                    new TypeBuilder("log", "printk")
                            .integer(LearntType.LINE, 8, false)
                            .integer(LearntType.LINE_BYTES, 4, false)
                            .integer("level", 1, true)
                            .integer("facility", 4, true)
                            .text("text"));

    /** Whether times are those of the day. */
    boolean wall;

    @Override
    TextItems items(LineWindow lines) {
        return new DmesgItems(this, lines);
    }

    @Override
    Clock clock() {
        return wall ? Clock.REALTIME : Clock.LOCAL;
    }
}
