package sonde.analysis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import sonde.analysis.Operator.Mergeable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/** How many rows each event type has, of whomever; and when each source begins and ends. */
public final class EventCounts implements Mergeable<EventCounts> {
    private final SourceBindings<PerSource> bindings = new SourceBindings<>(PerSource::new);
    private final List<PerSource> sources = new ArrayList<>();

    /** Nothing yet. */
    public EventCounts() {}

    private static final class PerSource {
        final Source source;
        final long[] rows;
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;

        PerSource(Source source) {
            this.source = source;
            rows = new long[source.types().size()];
        }
    }

    /** The rows of one type. */
    public record TypeCount(Source source, EventType type, long rows) {}

    @Override
    public RowOrder need() {
        return RowOrder.ANY_ORDER;
    }

    @Override
    public EventCounts fresh() {
        return new EventCounts();
    }

    @Override
    public void merge(EventCounts other) {
        for (PerSource from : other.sources) {
            PerSource into = of(from.source);
            for (int type = 0; type < from.rows.length; type++) {
                into.rows[type] += from.rows[type];
            }
            into.first = Math.min(into.first, from.first);
            into.last = Math.max(into.last, from.last);
        }
    }

    private PerSource of(Source source) {
        PerSource found = bindings.of(source);
        if (!sources.contains(found)) {
            sources.add(found);
        }
        return found;
    }

    @Override
    public int[] select(Source source) {
        of(source);
        return new TypeSelection(source).addAll(1, type -> true).codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        PerSource counts = bindings.of(batch);
        long[] rows = counts.rows;
        for (int row = from; row < to; row++) {
            rows[batch.type(row)]++;
        }
        if (from < to) {
            counts.first = Math.min(counts.first, batch.time(from));
            counts.last = Math.max(counts.last, batch.time(to - 1));
        }
    }

    /** Every type that has rows, most first. */
    public List<TypeCount> counts() {
        List<TypeCount> result = new ArrayList<>();
        for (PerSource one : sources) {
            for (EventType type : one.source.types()) {
                if (one.rows[type.id()] > 0) {
                    result.add(new TypeCount(one.source, type, one.rows[type.id()]));
                }
            }
        }
        result.sort(
                Comparator.comparingLong((TypeCount count) -> -count.rows)
                        .thenComparing(count -> count.type.qualifiedName()));
        return result;
    }
}
