package sonde.analysis;

import java.util.Arrays;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/** How many rows each thread has in a window, from when it counts on; notices are nobody's. */
public final class ThreadEvents implements Operator {
    private final ThreadTable threads;
    private final TimeWindow window;
    private final SourceBindings<int[]> bindings =
            new SourceBindings<>(source ->
                    new TypeSelection(source)
                            .addAll(1, type -> !type.system().equals(EventType.NOTICE))
                            .addAll(TOLD, ThreadEvents::isTold)
                            .codes());

    /** Code of rows that happened at no time: names and descriptions. */
    private static final int TOLD = 2;

    private long[] rows = new long[64];
    private long nobodys;
    private long first = Long.MAX_VALUE;
    private long last = Long.MIN_VALUE;

    /** Nothing yet. */
    public ThreadEvents(ThreadTable threads, TimeWindow window) {
        this.threads = threads;
        this.window = window;
    }

    private static boolean isTold(EventType type) {
        return type.system().equals(EventType.PERF_RECORD) || type.system().equals("trace");
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source);
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        int[] codes = bindings.of(batch);
        for (int row = from; row < to; row++) {
            long time = batch.time(row);
            if (codes[batch.type(row)] != TOLD && window.contains(time)) {
                first = Math.min(first, time);
                last = Math.max(last, time);
            }
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

    /** From the first event to the last, descriptions left out; 0 without any. */
    public long extentNanos() {
        return last > first ? last - first : 0;
    }

    /** Whether any event has a time; 0 is none. */
    public boolean isTimed() {
        return first != Long.MAX_VALUE && (first != 0 || last != 0);
    }

    /** The rows of a thread. */
    public long rows(int thread) {
        return thread < rows.length ? rows[thread] : 0;
    }
}
