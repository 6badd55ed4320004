package sonde.analysis;

import java.util.Map;
import java.util.TreeMap;
import sonde.analysis.Operator.Mergeable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/** The notices in a recording: lost events, throttled spans, corrupt parts, by source and CPU. */
public final class RecordedLosses implements Mergeable<RecordedLosses> {
    private final SourceBindings<TypeSelection> bindings =
            new SourceBindings<>(source ->
                    new TypeSelection(source)
                            .addAll(1, type -> type.system().equals(EventType.NOTICE)));
    private final TreeMap<LossOrigin, LossTotal> sums = new TreeMap<>();

    /** Nothing yet. */
    public RecordedLosses() {}

    /**
     * Where.
     *
     * @param kind name of the notice: {@code lost}, {@code throttle}, {@code corrupt}
     * @param cpu -1 when the notice does not say
     */
    public record LossOrigin(String source, String kind, int cpu)
            implements Comparable<LossOrigin> {
        @Override
        public int compareTo(LossOrigin other) {
            int order = source.compareTo(other.source);
            order = order != 0 ? order : kind.compareTo(other.kind);
            return order != 0 ? order : Integer.compare(cpu, other.cpu);
        }
    }

    /**
     * How much.
     *
     * @param notices number of them
     * @param events sum of their counts; a notice of unknown count adds nothing
     * @param unknown notices that do not say how many
     */
    public record LossTotal(long notices, long events, long unknown) {
        private LossTotal plus(LossTotal other) {
            return new LossTotal(
                    notices + other.notices, events + other.events, unknown + other.unknown);
        }
    }

    @Override
    public RowOrder need() {
        return RowOrder.ANY_ORDER;
    }

    @Override
    public RecordedLosses fresh() {
        return new RecordedLosses();
    }

    @Override
    public void merge(RecordedLosses other) {
        other.sums.forEach((place, sum) -> sums.merge(place, sum, LossTotal::plus));
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        TypeSelection wanted = bindings.of(batch);
        for (int row = from; row < to; row++) {
            if (wanted.code(batch, row) != 0) {
                Source source = batch.source();
                String kind = source.types().get(batch.type(row)).name();
                long count = Math.max(batch.weight(row), 0);
                sums.merge(
                        new LossOrigin(source.name(), kind, batch.cpu(row)),
                        new LossTotal(1, count, count == 0 ? 1 : 0),
                        LossTotal::plus);
            }
        }
    }

    /** Every place with a notice, by source, kind and CPU. */
    public Map<LossOrigin, LossTotal> sums() {
        return sums;
    }
}
