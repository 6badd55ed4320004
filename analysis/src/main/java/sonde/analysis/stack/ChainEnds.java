package sonde.analysis.stack;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.IntPredicate;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.TypeSelection;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;
import sonde.symbol.unwind.UnwindEnd;

/** How the call chains that {@link SampleUnwinding} made ended, of the threads that count. */
public final class ChainEnds implements Operator {
    private static final UnwindEnd[] ENDS = UnwindEnd.values();

    private final ThreadTable threads;
    private final TimeWindow window;
    private final SourceBindings<TypeSelection> bindings =
            new SourceBindings<>(
                    source -> new TypeSelection(source).addAll(1, type -> mayHave(source, type)));

    /** Each thread's in a row, behind those of rows that name none. */
    private long[] counts = new long[64 * ENDS.length];

    /** Counts samples of those threads and times. */
    public ChainEnds(ThreadTable threads, TimeWindow window) {
        this.threads = threads;
        this.window = window;
    }

    private static boolean mayHave(Source source, EventType type) {
        return source.name().equals("perf.data")
                && !type.system().equals(EventType.PERF_RECORD)
                && !type.system().equals(EventType.NOTICE);
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        for (int row = from; row < to; row++) {
            int end = batch.chainEnd(row);
            long time = batch.time(row);
            if (end >= 0 && end < ENDS.length && window.contains(time)) {
                boolean nobodys = batch.tid(row) < 0 && threads.countsNobody();
                int thread = threads.find(batch.tid(row));
                if (nobodys || threads.counts(thread, time)) {
                    count(thread, end);
                }
            }
        }
    }

    private void count(int thread, int end) {
        int index = (thread + 1) * ENDS.length + end;
        if (index >= counts.length) {
            counts = Arrays.copyOf(counts, Math.max(2 * counts.length, index + 1));
        }
        counts[index]++;
    }

    /**
     * How many chains ended in which way; ways of none left out.
     *
     * @param shown whether a thread is meant; -1 is what names no thread
     */
    public Map<UnwindEnd, Long> counts(IntPredicate shown) {
        Map<UnwindEnd, Long> all = new EnumMap<>(UnwindEnd.class);
        for (int index = 0; index < counts.length; index++) {
            if (counts[index] > 0 && shown.test(index / ENDS.length - 1)) {
                all.merge(ENDS[index % ENDS.length], counts[index], Long::sum);
            }
        }
        return all;
    }
}
