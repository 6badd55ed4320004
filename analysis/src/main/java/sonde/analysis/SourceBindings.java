package sonde.analysis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import sonde.event.Batch;
import sonde.event.Source;

/**
 * What an operator keeps per source (codes of its types, accessors of their fields), found again
 * from a batch without a map: a recording has a handful of sources.
 *
 * @param <F> the operator's own notes about a source
 */
public final class SourceBindings<F> {
    private final Function<Source, F> factory;
    private final List<Source> sources = new ArrayList<>();
    private final List<F> values = new ArrayList<>();

    /** Bindings made on first use. */
    public SourceBindings(Function<Source, F> factory) {
        this.factory = factory;
    }

    /** The notes about a source. */
    public F of(Source source) {
        int index = index(source);
        return index >= 0 ? values.get(index) : bind(source);
    }

    /** The notes about a batch's source. */
    public F of(Batch batch) {
        return of(batch.source());
    }

    private F bind(Source source) {
        F value = factory.apply(source);
        sources.add(source);
        values.add(value);
        return value;
    }

    @SuppressWarnings("ReferenceEquality") // sources are told apart by identity, not by content
    private int index(Source source) {
        for (int i = 0; i < sources.size(); i++) {
            if (sources.get(i) == source) {
                return i;
            }
        }
        return -1;
    }
}
