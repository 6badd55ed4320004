package sonde.tools.report;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.analysis.filter.RowFilter;
import sonde.analysis.filter.RowTest;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Source;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.ThreadNames;

/** Rows by CPU, by filter and by number, among those that another filter accepts. */
final class RowSelection implements EventListing.Filter {
    private final EventListing.Filter base;
    private final ListingOptions options;
    private final Function<Source, ThreadNames> names;
    private final Predicate<Source> samplesOnly;
    private final Set<Integer> cpus;
    private final Map<Source, SelectedTypes> kinds = new IdentityHashMap<>();
    private long skip;
    private long left;
    private long accepted;
    private @Nullable SelectedTypes latest;

    /** What the types of a source are to this selection. */
    private record SelectedTypes(Source source, RowTest[] tests, boolean[] silent) {}

    /**
     * @param samplesOnly sources whose lines are perf script's: records are followed, not written,
     *     and so not counted
     * @param skip accepted rows that are left out at the beginning
     * @param most accepted rows behind them; negative for no limit
     */
    RowSelection(
            EventListing.Filter base,
            ListingOptions options,
            Function<Source, ThreadNames> names,
            Predicate<Source> samplesOnly,
            long skip,
            long most) {
        this.base = base;
        this.options = options;
        this.names = names;
        this.samplesOnly = samplesOnly;
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
        SelectedTypes of = latest;
        if (of == null || of.source != batch.source()) {
            of = kinds.computeIfAbsent(batch.source(), this::kinds);
            latest = of;
        }
        int type = batch.type(row);
        if (!options.filters().isEmpty() && !of.tests[type].test(batch, row)) {
            return false;
        }
        if (of.silent[type]) {
            return true;
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

    private SelectedTypes kinds(Source of) {
        ThreadNames threads = names.apply(of);
        List<RowTest> all = new ArrayList<>();
        boolean[] silent = new boolean[of.types().size()];
        boolean script = samplesOnly.test(of);
        for (EventType type : of.types()) {
            silent[type.id()] = script && !isSample(type);
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
        return new SelectedTypes(of, all.toArray(RowTest[]::new), silent);
    }

    private static boolean isSample(EventType type) {
        return !type.system().equals(EventType.PERF_RECORD)
                && !type.system().equals(EventType.NOTICE);
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
