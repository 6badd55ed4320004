package sonde.recording.ftrace;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.ftrace.ListedFields.ListedField;

/** Writes the rows of one source, a line each; what an {@link EventListing} needs of it. */
public interface RowText {
    /** When a row may be written. */
    enum Turn {
        /** By any thread, whatever the others write. */
        ANY,
        /** By the thread that goes through the rows, in their order. */
        IN_ORDER,
        /** When every row before it has been written and none behind it: it is remembered. */
        ALONE,
    }

    /** When a row may be written; asked in order. */
    Turn turn(Batch batch, int row);

    /**
     * Appends the line of a row, line feed included.
     *
     * @param next the batch of the event that follows in the same buffer, null for none
     * @return whether the next event was told too
     */
    boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow);

    /**
     * Whether the turn of every row of a batch is {@link Turn#ANY}, now and later. May be asked by
     * another thread than the one that asks for turns; false is always right.
     */
    default boolean isFree(Batch batch) {
        return false;
    }

    /** There is no row before. */
    long NO_TIME = Long.MIN_VALUE;

    /**
     * Appends the line of a row, for those that show how long after the one before it was.
     *
     * @param previous time of the row that was shown before and {@link #isTimed}, or {@link
     *     #NO_TIME}
     */
    default void appendAfter(TextBuffer out, Batch batch, int row, long previous) {
        append(out, batch, row, null, 0);
    }

    /** Whether the time since rows of a type is of interest. */
    default boolean isTimed(int type) {
        return true;
    }

    /** Remembers what a row tells that is not shown. */
    void skip(Batch batch, int row);

    /** Fields that were asked for and that no row has. */
    default Set<ListedField> absent() {
        return Set.of();
    }

    /** Whether events of a type may be told together with the next one. */
    default boolean looksAhead(int type) {
        return false;
    }

    /** Whether a row of such a type is told together with the next one of its buffer. */
    default boolean isPair(Batch batch, int row, Batch next, int nextRow) {
        return false;
    }
}
