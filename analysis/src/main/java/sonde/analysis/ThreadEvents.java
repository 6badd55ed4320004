package sonde.analysis;

import java.util.Arrays;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/** How many rows each thread has in a window, from when it counts on; notices are nobody's. */
public final class ThreadEvents implements Operator {
    private final Threads threads;
    private final Window window;
    private final Bindings<int[]> bindings =
            new Bindings<>(source ->
                    new Wanted(source)
                            .addAll(1, type -> !type.system().equals(EventType.NOTICE))
                            .codes());
    private long[] rows = new long[64];
    private long nobodys;

    /** Nothing yet. */
    public ThreadEvents(Threads threads, Window window) {
        this.threads = threads;
        this.window = window;
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source);
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        for (int row = from; row < to; row++) {
            long time = batch.time(row);
            int thread = threads.find(batch.tid(row));
            if (thread < 0 && window.contains(time)) {
                nobodys++;
            } else if (thread >= 0 && window.contains(time) && threads.counts(thread, time)) {
                if (thread >= rows.length) {
                    rows = Arrays.copyOf(rows, Math.max(thread + 1, 2 * rows.length));
                }
                rows[thread]++;
            }
        }
    }

    /** Rows of the idle task, and those that name no thread. */
    public long nobodys() {
        return nobodys;
    }

    /** The rows of a thread. */
    public long rows(int thread) {
        return thread < rows.length ? rows[thread] : 0;
    }
}
