package sonde.tools.report;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.analysis.filter.RowFilter;
import sonde.analysis.filter.RowTest;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;
import sonde.format.ftrace.EventListing;
import sonde.format.ftrace.ThreadNames;

/** Rows by CPU, by filter and by number, among those that another filter accepts. */
final class RowSelection implements EventListing.Filter {
    private final EventListing.Filter base;
    private final ListingOptions options;
    private final Function<Source, ThreadNames> names;
    private final Set<Integer> cpus;
    private final Map<Source, RowTest[]> tests = new IdentityHashMap<>();
    private long skip;
    private long left;
    private long accepted;
    private @Nullable Source source;
    private RowTest[] ofSource = {};

    /**
     * @param skip accepted rows that are left out at the beginning
     * @param most accepted rows behind them; negative for no limit
     */
    RowSelection(
            EventListing.Filter base,
            ListingOptions options,
            Function<Source, ThreadNames> names,
            long skip,
            long most) {
        this.base = base;
        this.options = options;
        this.names = names;
        this.cpus = new HashSet<>(options.cpus());
        this.skip = skip;
        this.left = most < 0 ? Long.MAX_VALUE : most;
    }

    /** Rows that passed all but the limits of number. */
    long accepted() {
        return accepted;
    }

    @Override
    public boolean isDone() {
        return left == 0;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // sources are told apart by identity
    public boolean accepts(Batch batch, int row) {
        // The base follows threads: it sees every row.
        if (!base.accepts(batch, row) || !cpus.isEmpty() && !cpus.contains(batch.cpu(row))) {
            return false;
        }
        if (!options.filters().isEmpty()) {
            if (source != batch.source()) {
                source = batch.source();
                ofSource = tests.computeIfAbsent(batch.source(), this::compiled);
            }
            if (!ofSource[batch.type(row)].test(batch, row)) {
                return false;
            }
        }
        accepted++;
        if (skip > 0) {
            skip--;
            return false;
        }
        if (left == 0) {
            return false;
        }
        left--;
        return true;
    }

    private RowTest[] compiled(Source of) {
        ThreadNames threads = names.apply(of);
        List<RowTest> all = new ArrayList<>();
        for (EventType type : of.types()) {
            List<RowTest> some = new ArrayList<>();
            for (RowFilter filter : options.filters()) {
                RowTest test = filter.compile(type, threads::comm);
                if (test != null) {
                    some.add(test);
                }
            }
            RowTest[] any = some.toArray(RowTest[]::new);
            boolean notice = type.system().equals(EventType.NOTICE);
            all.add(notice ? (batch, row) -> true : (batch, row) -> passes(any, batch, row));
        }
        return all.toArray(RowTest[]::new);
    }

    private static boolean passes(RowTest[] tests, Batch batch, int row) {
        for (RowTest test : tests) {
            if (test.test(batch, row)) {
                return true;
            }
        }
        return false;
    }
}
