package sonde.analysis;

import sonde.event.Batch;
import sonde.event.Source;

/**
 * A step of an analysis: takes rows, keeps sums, and touches nothing but itself and the operators
 * it was given when made. The {@link Engine} chooses order and threads from the {@link #need()}.
 */
public interface Operator {
    /** The order in which rows must come. */
    enum RowOrder {
        /** Any order, any thread: the operator is a {@link Mergeable}. */
        ANY_ORDER,
        /** The rows of a lane in order, lanes mixed anyhow; also a {@link Mergeable}. */
        PER_CPU,
        /** All rows of all lanes by time; equal times in the order of the lanes. */
        TIME_ORDERED,
    }

    /** An operator whose work can be split over threads: copies see disjoint sets of lanes. */
    interface Mergeable<O extends Mergeable<O>> extends Operator {
        /** An empty operator of the same kind. */
        O fresh();

        /** Adds what {@code other} saw. */
        void merge(O other);
    }

    /** The order this operator needs; by time unless it says otherwise. */
    default RowOrder need() {
        return RowOrder.TIME_ORDERED;
    }

    /**
     * Which types of a source are wanted, asked once per source before its first row.
     *
     * @return an array as long as {@link Source#types()}; 0 for a type that is not wanted
     */
    int[] select(Source source);

    /**
     * Whether other operators read this one's state while rows come: rows it wants are then handed
     * out one by one, to it first (operators are called in the order given to the engine).
     */
    default boolean leads() {
        return false;
    }

    /** The time of the first row, before it; not called for an empty recording. */
    default void begin(long firstTime) {}

    /** The rows {@code from} (inclusive) to {@code to} (exclusive), all of wanted types. */
    void accept(Batch batch, int from, int to);

    /** The time of the last row, after it; 0 for an empty recording. */
    default void finish(long lastTime) {}
}
