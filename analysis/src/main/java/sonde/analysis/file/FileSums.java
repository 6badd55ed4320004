package sonde.analysis.file;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** What was done with one name, by thread and system call. */
final class FileSums {
    static final int OPENS = 0;
    static final int CALLS = 1;
    static final int READ = 2;
    static final int WRITTEN = 3;
    static final int NANOS = 4;
    private static final int COLUMNS = 5;

    // Key: thread and number of the call.
    private final Map<Long, long[]> byCall = new HashMap<>();
    private long lastKey = -1;
    private long[] last = {};

    /** Takes the columns of a thread's calls of one number. */
    @FunctionalInterface
    interface Sink {
        void calls(int thread, int number, long[] columns);
    }

    /** The columns of a thread's calls of a number, to be added to. */
    long[] of(int thread, int number) {
        long key = (long) thread << 32 | number;
        if (key != lastKey) {
            lastKey = key;
            last = byCall.computeIfAbsent(key, ignored -> new long[COLUMNS]);
        }
        return last;
    }

    void forEach(Sink sink) {
        byCall.forEach((key, columns) -> sink.calls((int) (key >> 32), key.intValue(), columns));
    }

    void add(FileSums other) {
        other.forEach((thread, number, columns) -> add(of(thread, number), columns));
    }

    private static void add(long[] sum, long[] columns) {
        for (int i = 0; i < COLUMNS; i++) {
            sum[i] += columns[i];
        }
    }

    /** The threads with anything in a column. */
    IntStream threads(int column) {
        return byCall.entrySet().stream()
                .filter(entry -> entry.getValue()[column] > 0)
                .mapToInt(entry -> (int) (entry.getKey() >> 32));
    }

    long[] total(IntPredicate which) {
        long[] sum = new long[COLUMNS];
        forEach((thread, number, columns) -> {
            if (which.test(thread)) {
                add(sum, columns);
            }
        });
        return sum;
    }
}
