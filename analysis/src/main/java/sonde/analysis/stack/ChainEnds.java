package sonde.analysis.stack;

import java.util.EnumMap;
import java.util.Map;
import sonde.analysis.Bindings;
import sonde.analysis.Operator;
import sonde.analysis.Threads;
import sonde.analysis.Wanted;
import sonde.analysis.Window;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;
import sonde.symbol.unwind.UnwindEnd;

/** How the call chains that {@link SampleUnwinding} made ended, of the threads that count. */
public final class ChainEnds implements Operator {
    private static final UnwindEnd[] ENDS = UnwindEnd.values();

    private final Threads threads;
    private final Window window;
    private final Bindings<Wanted> bindings =
            new Bindings<>(source -> new Wanted(source).addAll(1, type -> mayHave(source, type)));
    private final long[] counts = new long[ENDS.length];

    /** Counts samples of those threads and times. */
    public ChainEnds(Threads threads, Window window) {
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
            if (end >= 0 && end < counts.length && window.contains(time)) {
                boolean nobodys = batch.tid(row) < 0 && threads.countsNobody();
                counts[end] += nobodys || counts(batch.tid(row), time) ? 1 : 0;
            }
        }
    }

    private boolean counts(int tid, long time) {
        return threads.counts(threads.find(tid), time);
    }

    /** How many chains ended in which way; ways of none left out. */
    public Map<UnwindEnd, Long> counts() {
        Map<UnwindEnd, Long> all = new EnumMap<>(UnwindEnd.class);
        for (UnwindEnd end : ENDS) {
            if (counts[end.ordinal()] > 0) {
                all.put(end, counts[end.ordinal()]);
            }
        }
        return all;
    }
}
