package sonde.tools.report;

import java.util.Arrays;
import sonde.analysis.Operator;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackTable;
import sonde.event.Batch;
import sonde.event.Source;

/** Collects the code that call chains go through, so that it is looked up together. */
public final class ChainLocations implements Operator {
    private final StackTable stacks;

    /** None yet; {@code symbols} goes before it over the same rows. */
    public ChainLocations(FrameSymbols symbols) {
        stacks = new StackTable(symbols);
    }

    @Override
    public int[] select(Source source) {
        int[] all = new int[source.types().size()];
        Arrays.fill(all, 1);
        return all;
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        for (int row = from; row < to; row++) {
            stacks.intern(batch, row, batch.pid(row));
        }
    }

    /** Each once. */
    public long[] all() {
        return stacks.locations();
    }
}
