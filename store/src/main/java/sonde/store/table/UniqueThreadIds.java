package sonde.store.table;

import java.io.IOException;

/** Numbers of threads that are unique over time and traces: a tid that is reused gets another. */
public interface UniqueThreadIds {
    /** What stands for "no thread". */
    int NONE = -1;

    /** Makes sure that they are known; called before the first row is asked for. */
    void prepare() throws IOException;

    /**
     * The thread that had a tid.
     *
     * @param time in the clock of the trace
     * @return {@link #NONE} for a tid that is none
     */
    int of(int trace, int tid, long time);
}
