package sonde.analysis.sched;

/** Takes spans of threads' states in the order in which they end. */
public interface StateSlices {
    /**
     * A thread was in a state. The spans of a thread follow each other without a gap from its first
     * to its last moment in the recording. While this runs {@link ThreadStates#call}, {@link
     * ThreadStates#stack}, {@link ThreadStates#waker} and {@link ThreadStates#kernelNanos} tell
     * more about the span.
     *
     * @param from inclusive, after the moment from which the thread counts
     * @param to exclusive, greater than {@code from}
     */
    void slice(ThreadStates states, int thread, ThreadState state, long from, long to);

    /** Whether it asks for {@link ThreadStates#stack}: else call chains are not added up. */
    default boolean needsStacks() {
        return false;
    }
}
