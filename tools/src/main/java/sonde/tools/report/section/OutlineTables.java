package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sonde.analysis.EventCounts;
import sonde.analysis.outline.CounterSums;
import sonde.analysis.outline.Flows;
import sonde.analysis.outline.SpanSums;
import sonde.analysis.slice.NamedSlices;
import sonde.analysis.stack.SampleTypes;
import sonde.analysis.stack.StackSums;
import sonde.event.EventType;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.Findings;

/** The tables of recordings that are not a kernel's: spans, counters, packets, other samples. */
final class OutlineTables {
    /** Types of samples shown by themselves. */
    private static final int MOST_SAMPLED = 64;

    /** Most types of samples that a summary shows. */
    private static final int MOST_SHOWN = 3;

    private static final AnalysisKey<SpanSums> SPANS =
            new AnalysisKey<>(found -> {
                SpanSums sums = new SpanSums(found.window(), found::shown);
                if (found.types().anyMatch(OutlineTables::isNamed)) {
                    found.add(new NamedSlices(found.threads(), found.stacks()::function, sums));
                }
                return sums;
            });

    private static final AnalysisKey<CounterSums> COUNTERS =
            new AnalysisKey<>(found -> found.add(new CounterSums(found.window())));

    private static final AnalysisKey<Flows> FLOWS =
            new AnalysisKey<>(found -> found.add(new Flows(found.window())));

    /** Of types that are samples, but not of CPUs or page faults, by qualified name. */
    private static final AnalysisKey<Map<String, StackSums>> OTHER_SAMPLES =
            new AnalysisKey<>(OutlineTables::otherSamples);

    /** What the tables take. */
    static final List<AnalysisKey<?>> NEEDS = List.of(SPANS, COUNTERS, FLOWS, OTHER_SAMPLES);

    private OutlineTables() {}

    private static boolean isNamed(EventType type) {
        return type.system().equals("slice")
                || type.qualifiedName().equals("ftrace:funcgraph_entry");
    }

    private static Map<String, StackSums> otherSamples(Findings found) {
        Map<String, StackSums> sums = new TreeMap<>();
        found.types()
                .filter(type ->
                        SampleTypes.isSample(type)
                                && !SampleTypes.isCpu(type)
                                && !SampleTypes.isFault(type))
                .map(EventType::qualifiedName)
                .distinct()
                .limit(MOST_SAMPLED)
                .forEach(name ->
                        sums.put(
                                name,
                                found.add(
                                        StackSums.ofType(
                                                name,
                                                found.threads(),
                                                found.stacks(),
                                                found.window()))));
        return sums;
    }

    /**
     * The tables; some have no rows.
     *
     * @param withEvents whether the number of rows by event type is one of them
     */
    static List<Table> of(Findings found, int limit, boolean withEvents) {
        List<Table> tables = new ArrayList<>(samples(found, limit));
        tables.add(spans(found, limit));
        tables.add(
                new TableBuilder<CounterSums.Sum>("counters")
                        .text("counter", CounterSums.Sum::name)
                        .count("values", CounterSums.Sum::count)
                        .count("least", sum -> Math.round(sum.least()))
                        .count("most", sum -> Math.round(sum.most()))
                        .count("last", sum -> Math.round(sum.last()))
                        .table(found.of(COUNTERS).sums(), limit));
        tables.add(
                new TableBuilder<Flows.Sum>("packets")
                        .text("from", Flows.Sum::one)
                        .text("to", Flows.Sum::other)
                        .text("protocol", Flows.Sum::protocol)
                        .count("packets", Flows.Sum::packets)
                        .bytes("bytes", Flows.Sum::bytes)
                        .table(found.of(FLOWS).sums(), limit));
        if (withEvents) {
            tables.add(
                    new TableBuilder<EventCounts.Count>("events")
                            .text("event", count -> count.type().qualifiedName())
                            .count("rows", EventCounts.Count::rows)
                            .table(found.counts().counts(), limit));
        }
        return tables;
    }

    /**
     * A table for each type, the heaviest first; samples that weigh nothing (bpf-output) only carry
     * what a program wrote.
     */
    private static List<Table> samples(Findings found, int limit) {
        return found.of(OTHER_SAMPLES).entrySet().stream()
                .filter(entry -> entry.getValue().total() > 0)
                .sorted(
                        Comparator.comparingLong((Map.Entry<String, StackSums> entry) ->
                                        -entry.getValue().total())
                                .thenComparing(Map.Entry::getKey))
                .limit(MOST_SHOWN)
                .map(entry ->
                        new HotFunctions(found, entry.getValue())
                                .table("samples of " + entry.getKey(), "weight", limit))
                .toList();
    }

    private static Table spans(Findings found, int limit) {
        return new TableBuilder<SpanSums.Sum>("spans")
                .text("span", SpanSums.Sum::name)
                .text("category", SpanSums.Sum::category)
                .count("count", SpanSums.Sum::count)
                .nanos("total", SpanSums.Sum::nanos)
                .nanos("mean", sum -> ended(sum) == 0 ? null : sum.nanos() / ended(sum))
                .nanos("longest", sum -> ended(sum) == 0 ? null : sum.longest())
                .count("no end", sum -> sum.open() == 0 ? null : sum.open())
                .table(found.of(SPANS).sums(), limit);
    }

    private static long ended(SpanSums.Sum sum) {
        return sum.count() - sum.open();
    }
}
