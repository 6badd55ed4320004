package sonde.analysis;

import java.util.List;
import java.util.function.Predicate;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;

/**
 * An operator that is not shown events of which a recording has a part only: sums over those would
 * be wrong.
 *
 * @param partial types that were recorded through a filter
 */
public record WholeTypesOnly(Operator operator, Predicate<EventType> partial) implements Operator {
    @Override
    public RowOrder need() {
        return operator.need();
    }

    @Override
    public int[] select(Source source) {
        int[] codes = operator.select(source).clone();
        List<EventType> types = source.types();
        for (int type = 0; type < codes.length; type++) {
            codes[type] = partial.test(types.get(type)) ? 0 : codes[type];
        }
        return codes;
    }

    @Override
    public boolean leads() {
        return operator.leads();
    }

    @Override
    public void begin(long firstTime) {
        operator.begin(firstTime);
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        operator.accept(batch, from, to);
    }

    @Override
    public void finish(long lastTime) {
        operator.finish(lastTime);
    }
}
