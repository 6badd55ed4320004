package sonde.analysis.outline;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.slice.NamedSlices;
import sonde.analysis.slice.NamedSlices.NamedSlice;

/** Named spans added up by category and name. */
public final class SpanSummary implements NamedSlices.Sink {
    /** Names told apart; a hostile file has any number. */
    private static final int MOST_NAMES = 1 << 16;

    private final Map<Key, SpanTotal> sums = new HashMap<>();

    private final TimeWindow window;
    private final IntPredicate which;

    /**
     * Spans that begin in a window.
     *
     * @param which whether those of a thread, by its number, are wanted; -1 for no thread
     */
    public SpanSummary(TimeWindow window, IntPredicate which) {
        this.window = window;
        this.which = which;
    }

    private record Key(String category, String name) {}

    /** All spans of a name. */
    public static final class SpanTotal {
        private final Key key;
        private long count;
        private long open;
        private long nanos;
        private long longest;

        private SpanTotal(Key key) {
            this.key = key;
        }

        /** What the format says; empty for nothing. */
        public String category() {
            return key.category;
        }

        /** What they are called. */
        public String name() {
            return key.name;
        }

        /** How many began. */
        public long count() {
            return count;
        }

        /** Those of them that never ended; they have no length. */
        public long open() {
            return open;
        }

        /** Sum of their lengths, spans inside others counted in both. */
        public long nanos() {
            return nanos;
        }

        /** Length of the longest. */
        public long longest() {
            return longest;
        }
    }

    @Override
    public void slice(NamedSlice span) {
        if (!window.contains(span.from()) || !which.test(span.thread())) {
            return;
        }
        Key key = new Key(span.category(), span.name());
        SpanTotal sum = sums.get(key);
        if (sum == null) {
            key = sums.size() < MOST_NAMES ? key : new Key("", "…");
            sum = sums.computeIfAbsent(key, SpanTotal::new);
        }
        sum.count++;
        if (span.to() == ThreadTable.NEVER) {
            sum.open++;
            return;
        }
        long length = Math.max(0, span.to() - span.from());
        sum.nanos += length;
        sum.longest = Math.max(sum.longest, length);
    }

    /** Every name, the longest time first. */
    public List<SpanTotal> sums() {
        List<SpanTotal> all = new ArrayList<>(sums.values());
        all.sort(
                Comparator.comparingLong((SpanTotal sum) -> -sum.nanos)
                        .thenComparing(sum -> -sum.count)
                        .thenComparing(sum -> sum.key.name));
        return all;
    }
}
