package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.List;
import sonde.analysis.EventCounts.TypeCount;
import sonde.event.Glob;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportSection;

/** How many events there are of which type. */
final class StatsSection implements ReportSection {
    @Override
    public List<String> options() {
        return List.of("--stats");
    }

    @Override
    public String help() {
        return "show the number of events by type and source";
    }

    @Override
    public boolean takesEventNames() {
        return true;
    }

    @Override
    public List<Result> results(ReportOperators found) {
        List<Result> results = new ArrayList<>();
        results.add(events(found, found.options().events()));
        if (found.meta() == null && !found.options().isNarrow()) {
            results.addAll(found.recordCounts());
        }
        return results;
    }

    /** Event types whose names match one of the patterns; all without patterns. */
    static Table events(ReportOperators found, List<Glob> patterns) {
        return new TableBuilder<TypeCount>("events")
                .text("source", count -> count.source().name())
                .text("event", count -> count.type().qualifiedName())
                .count("rows", TypeCount::rows)
                .table(
                        found.counts().counts().stream()
                                .filter(count ->
                                        ReportOptions.fits(patterns, count.type().qualifiedName())),
                        Long.MAX_VALUE);
    }
}
