package sonde.recording.ftrace;

import org.jspecify.annotations.Nullable;
import sonde.event.Batch;

/** What stands behind an event's name in a listing. */
@FunctionalInterface
interface EventBody {
    /** Appends it for that row; whether the next event was told with it. */
    boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow);

    /** One that never looks ahead. */
    @FunctionalInterface
    interface Alone {
        /** Appends it for that row. */
        void append(TextBuffer out, Batch batch, int row);
    }

    /** What a print format says. */
    record PrintedBody(PrintFmt format) implements EventBody {
        @Override
        public boolean append(
                TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
            format.append(out, batch, row);
            return false;
        }
    }

    /** Makes a body of one that needs no next event. */
    static EventBody of(Alone alone) {
        return (out, batch, row, next, nextRow) -> {
            alone.append(out, batch, row);
            return false;
        };
    }
}
