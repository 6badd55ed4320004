package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import sonde.analysis.EventCounts.TypeCount;
import sonde.analysis.outline.CounterSummary;
import sonde.analysis.outline.CounterSummary.CounterTotal;
import sonde.analysis.outline.PacketFlows;
import sonde.analysis.outline.PacketFlows.FlowTotal;
import sonde.analysis.outline.SpanSummary;
import sonde.analysis.outline.SpanSummary.SpanTotal;
import sonde.analysis.slice.NamedSlices;
import sonde.analysis.stack.SampleTypes;
import sonde.analysis.stack.StackAggregate;
import sonde.event.EventType;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;

/** The tables of recordings that are not a kernel's: spans, counters, packets, other samples. */
final class OutlineTables {
    /** Types of samples shown by themselves. */
    private static final int MOST_SAMPLED = 64;

    /** Most types of samples that a summary shows. */
    private static final int MOST_SHOWN = 3;

    private static final AnalysisKey<SpanSummary> SPANS =
            new AnalysisKey<>(found -> {
                SpanSummary sums = new SpanSummary(found.window(), found::shown);
                if (found.types().anyMatch(OutlineTables::isNamed)) {
                    found.add(new NamedSlices(found.threads(), found.stacks()::function, sums));
                }
                return sums;
            });

    private static final AnalysisKey<CounterSummary> COUNTERS =
            new AnalysisKey<>(found -> found.add(new CounterSummary(found.window())));

    private static final AnalysisKey<PacketFlows> FLOWS =
            new AnalysisKey<>(found -> found.add(new PacketFlows(found.window())));

    /** Samples that are neither of CPUs nor page faults, by the qualified name of their type. */
    private static final AnalysisKey<Map<String, StackAggregate>> OTHER_SAMPLES =
            new AnalysisKey<>(OutlineTables::otherSamples);

    /** What the tables take. */
    static final List<AnalysisKey<?>> NEEDS =
            List.of(SPANS, COUNTERS, FLOWS, OTHER_SAMPLES, ReportOperators.EVENT_STACKS);

    private OutlineTables() {}

    private static boolean isNamed(EventType type) {
        return type.system().equals("slice")
                || type.qualifiedName().equals("ftrace:funcgraph_entry");
    }

    private static Map<String, StackAggregate> otherSamples(ReportOperators found) {
        Map<String, StackAggregate> sums = new TreeMap<>();
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
                                        StackAggregate.ofType(
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
    static List<Table> of(ReportOperators found, int limit, boolean withEvents) {
        List<Table> tables = new ArrayList<>(samples(found, limit));
        tables.add(spans(found, limit));
        tables.add(
                new TableBuilder<CounterTotal>("counters")
                        .text("counter", CounterTotal::name)
                        .count("values", CounterTotal::count)
                        .count("least", sum -> Math.round(sum.least()))
                        .count("most", sum -> Math.round(sum.most()))
                        .count("last", sum -> Math.round(sum.last()))
                        .table(found.of(COUNTERS).sums(), limit));
        tables.add(
                new TableBuilder<FlowTotal>("packets")
                        .text("from", FlowTotal::one)
                        .text("to", FlowTotal::other)
                        .text("protocol", FlowTotal::protocol)
                        .count("packets", FlowTotal::packets)
                        .bytes("bytes", FlowTotal::bytes)
                        .table(found.of(FLOWS).sums(), limit));
        if (withEvents) {
            tables.add(
                    new TableBuilder<TypeCount>("events")
                            .text("event", count -> count.type().qualifiedName())
                            .count("rows", TypeCount::rows)
                            .table(found.counts().counts(), limit));
        }
        return tables;
    }

    /**
     * A table for each type, the heaviest first; samples that weigh nothing (bpf-output) only carry
     * what a program wrote.
     */
    private static List<Table> samples(ReportOperators found, int limit) {
        return Stream.of(OTHER_SAMPLES, ReportOperators.EVENT_STACKS)
                .flatMap(key -> found.of(key).entrySet().stream())
                .filter(entry -> entry.getValue().total() > 0)
                .sorted(
                        Comparator.comparingLong((Map.Entry<String, StackAggregate> entry) ->
                                        -entry.getValue().total())
                                .thenComparing(Map.Entry::getKey))
                .limit(MOST_SHOWN)
                .map(entry ->
                        new HotFunctions(found, entry.getValue())
                                .table("samples of " + entry.getKey(), "weight", limit))
                .toList();
    }

    private static Table spans(ReportOperators found, int limit) {
        return new TableBuilder<SpanTotal>("spans")
                .text("span", SpanTotal::name)
                .text("category", SpanTotal::category)
                .count("count", SpanTotal::count)
                .nanos("total", SpanTotal::nanos)
                .nanos("mean", sum -> ended(sum) == 0 ? null : sum.nanos() / ended(sum))
                .nanos("longest", sum -> ended(sum) == 0 ? null : sum.longest())
                .count("no end", sum -> sum.open() == 0 ? null : sum.open())
                .table(found.of(SPANS).sums(), limit);
    }

    private static long ended(SpanTotal sum) {
        return sum.count() - sum.open();
    }
}
