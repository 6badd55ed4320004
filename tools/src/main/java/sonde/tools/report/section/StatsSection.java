package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.List;
import sonde.analysis.EventCounts;
import sonde.event.Glob;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.tools.report.Findings;
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
        return "how many events of which type, from which source";
    }

    @Override
    public boolean takesEventNames() {
        return true;
    }

    @Override
    public List<Result> results(Findings found) {
        List<Result> results = new ArrayList<>();
        results.add(events(found, found.options().events()));
        if (found.meta() == null && !found.options().isNarrow()) {
            results.addAll(found.recordCounts());
        }
        return results;
    }

    /** Event types whose names match one of the patterns; all without patterns. */
    static Table events(Findings found, List<Glob> patterns) {
        return new TableBuilder<EventCounts.Count>("events")
                .text("source", count -> count.source().name())
                .text("event", count -> count.type().qualifiedName())
                .count("rows", EventCounts.Count::rows)
                .table(
                        found.counts().counts().stream()
                                .filter(count ->
                                        ReportOptions.fits(patterns, count.type().qualifiedName())),
                        Long.MAX_VALUE);
    }
}
