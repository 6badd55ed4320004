package sonde.store.derive;

import java.util.function.Predicate;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.TypeSelection;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/** Shows every row of some types, by time. */
final class RowOperator implements Operator {
    private final SourceBindings<TypeSelection> bindings;
    private final Sink sink;

    /** Takes rows. */
    @FunctionalInterface
    interface Sink {
        /** A row of a wanted type. */
        void row(Batch batch, int row, EventType type);
    }

    RowOperator(Predicate<EventType> which, Sink sink) {
        bindings = new SourceBindings<>(source -> new TypeSelection(source).addAll(1, which));
        this.sink = sink;
    }

    @Override
    public RowOrder need() {
        return RowOrder.TIME_ORDERED;
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        for (int row = from; row < to; row++) {
            sink.row(batch, row, batch.source().types().get(batch.type(row)));
        }
    }
}
