package sonde.tools.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import sonde.analysis.EventCounts;
import sonde.analysis.outline.CounterSums;
import sonde.analysis.outline.Flows;
import sonde.analysis.outline.SpanSums;
import sonde.analysis.stack.StackSums;
import sonde.event.result.Table;
import sonde.event.result.Unit;

/** The tables of recordings that are not a kernel's: spans, counters, packets, other samples. */
final class OutlineSections {
    /** Most types of samples that a summary shows. */
    private static final int MOST_SAMPLED = 3;

    private final Findings found;
    private final int limit;
    private final StackOptions stacks;

    OutlineSections(Findings found, int limit, StackOptions stacks) {
        this.found = found;
        this.limit = limit;
        this.stacks = stacks;
    }

    /** Those with rows; of everything that names no section of its own the events. */
    List<Table> all(boolean withEvents) {
        List<Table> tables = new ArrayList<>();
        samples(tables);
        tables.add(spans());
        tables.add(counters());
        tables.add(flows());
        if (withEvents) {
            tables.add(events());
        }
        tables.removeIf(table -> table.rows().isEmpty());
        return tables;
    }

    /**
     * A table for each type, the heaviest first; samples that weigh nothing (bpf-output) only carry
     * what a program wrote.
     */
    private void samples(List<Table> tables) {
        found.otherSamples.entrySet().stream()
                .filter(entry -> entry.getValue().total() > 0)
                .sorted(
                        Comparator.comparingLong((Map.Entry<String, StackSums> entry) ->
                                        -entry.getValue().total())
                                .thenComparing(Map.Entry::getKey))
                .limit(MOST_SAMPLED)
                .forEach(entry -> {
                    StackSums sums = entry.getValue();
                    boolean weighed = sums.total() != sums.count();
                    tables.add(
                            new HotFunctions(found, stacks, sums, weighed)
                                    .table(
                                            "samples of " + entry.getKey(),
                                            weighed ? "weight" : "samples",
                                            limit));
                });
    }

    private Table spans() {
        Rows rows =
                new Rows("spans")
                        .column("span", Unit.TEXT)
                        .column("category", Unit.TEXT)
                        .column("count", Unit.COUNT)
                        .column("total", Unit.NANOS)
                        .column("mean", Unit.NANOS)
                        .column("longest", Unit.NANOS)
                        .column("no end", Unit.COUNT);
        for (SpanSums.Sum sum : found.spans.sums()) {
            if (rows.size() == limit) {
                break;
            }
            long ended = sum.count() - sum.open();
            rows.add(
                    sum.name(),
                    sum.category(),
                    sum.count(),
                    sum.nanos(),
                    ended == 0 ? null : sum.nanos() / ended,
                    ended == 0 ? null : sum.longest(),
                    sum.open() == 0 ? null : sum.open());
        }
        return rows.table();
    }

    private Table counters() {
        Rows rows =
                new Rows("counters")
                        .column("counter", Unit.TEXT)
                        .column("values", Unit.COUNT)
                        .column("least", Unit.COUNT)
                        .column("most", Unit.COUNT)
                        .column("last", Unit.COUNT);
        for (CounterSums.Sum sum : found.counters.sums()) {
            if (rows.size() == limit) {
                break;
            }
            rows.add(
                    sum.name(),
                    sum.count(),
                    Math.round(sum.least()),
                    Math.round(sum.most()),
                    Math.round(sum.last()));
        }
        return rows.table();
    }

    private Table flows() {
        Rows rows =
                new Rows("packets")
                        .column("from", Unit.TEXT)
                        .column("to", Unit.TEXT)
                        .column("protocol", Unit.TEXT)
                        .column("packets", Unit.COUNT)
                        .column("bytes", Unit.BYTES);
        for (Flows.Sum sum : found.flows.sums()) {
            if (rows.size() == limit) {
                break;
            }
            rows.add(sum.one(), sum.other(), sum.protocol(), sum.packets(), sum.bytes());
        }
        return rows.table();
    }

    private Table events() {
        Rows rows = new Rows("events").column("event", Unit.TEXT).column("rows", Unit.COUNT);
        for (EventCounts.Count count : found.counts.counts()) {
            if (rows.size() == limit) {
                break;
            }
            rows.add(count.type().qualifiedName(), count.rows());
        }
        return rows.table();
    }
}
