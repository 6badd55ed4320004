package sonde.analysis;

import java.util.Map;
import java.util.TreeMap;
import sonde.analysis.Operator.Mergeable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/** The notices in a recording: lost events, throttled spans, corrupt parts, by source and CPU. */
public final class Losses implements Mergeable<Losses> {
    private final Bindings<Wanted> bindings =
            new Bindings<>(source ->
                    new Wanted(source).addAll(1, type -> type.system().equals(EventType.NOTICE)));
    private final TreeMap<Place, Sum> sums = new TreeMap<>();

    /** Nothing yet. */
    public Losses() {}

    /**
     * Where.
     *
     * @param kind name of the notice: {@code lost}, {@code throttle}, {@code corrupt}
     * @param cpu -1 when the notice does not say
     */
    public record Place(String source, String kind, int cpu) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
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
    public record Sum(long notices, long events, long unknown) {
        private Sum plus(Sum other) {
            return new Sum(notices + other.notices, events + other.events, unknown + other.unknown);
        }
    }

    @Override
    public Need need() {
        return Need.ANY_ORDER;
    }

    @Override
    public Losses fresh() {
        return new Losses();
    }

    @Override
    public void merge(Losses other) {
        other.sums.forEach((place, sum) -> sums.merge(place, sum, Sum::plus));
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Wanted wanted = bindings.of(batch);
        for (int row = from; row < to; row++) {
            if (wanted.code(batch, row) != 0) {
                Source source = batch.source();
                String kind = source.types().get(batch.type(row)).name();
                long count = Math.max(batch.weight(row), 0);
                sums.merge(
                        new Place(source.name(), kind, batch.cpu(row)),
                        new Sum(1, count, count == 0 ? 1 : 0),
                        Sum::plus);
            }
        }
    }

    /** Every place with a notice, by source, kind and CPU. */
    public Map<Place, Sum> sums() {
        return sums;
    }
}
