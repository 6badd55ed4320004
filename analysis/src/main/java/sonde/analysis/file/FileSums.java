package sonde.analysis.file;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** What was done with one name, by thread. */
final class FileSums {
    static final int OPENS = 0;
    static final int CALLS = 1;
    static final int READ = 2;
    static final int WRITTEN = 3;
    static final int NANOS = 4;
    private static final int COLUMNS = 5;

    private final Map<Integer, long[]> byThread = new HashMap<>();
    private int lastThread = -1;
    private long[] last = {};

    /** The columns of a thread, to be added to. */
    long[] of(int thread) {
        if (thread != lastThread) {
            lastThread = thread;
            last = byThread.computeIfAbsent(thread, ignored -> new long[COLUMNS]);
        }
        return last;
    }

    void add(FileSums other) {
        other.byThread.forEach((thread, columns) -> {
            long[] sum = of(thread);
            for (int i = 0; i < COLUMNS; i++) {
                sum[i] += columns[i];
            }
        });
    }

    /** The threads with anything in a column. */
    IntStream threads(int column) {
        return byThread.entrySet().stream()
                .filter(entry -> entry.getValue()[column] > 0)
                .mapToInt(Map.Entry::getKey);
    }

    long[] total(IntPredicate which) {
        long[] sum = new long[COLUMNS];
        byThread.forEach((thread, columns) -> {
            if (which.test(thread)) {
                for (int i = 0; i < COLUMNS; i++) {
                    sum[i] += columns[i];
                }
            }
        });
        return sum;
    }
}
