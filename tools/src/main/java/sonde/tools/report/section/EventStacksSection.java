package sonde.tools.report.section;

import java.util.List;
import sonde.event.result.Result;
import sonde.event.result.Unit;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** The events that were recorded with their stacks, each type a tree. */
final class EventStacksSection implements ReportSection {
    @Override
    public List<String> options() {
        return List.of("--event-stacks");
    }

    @Override
    public String help() {
        return "show events with recorded stacks (record -T) as call trees";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(ReportOperators.EVENT_STACKS);
    }

    @Override
    public boolean showsChains() {
        return true;
    }

    @Override
    public boolean explainsSymbols() {
        return true;
    }

    @Override
    public List<Result> results(ReportOperators found) {
        return found.of(ReportOperators.EVENT_STACKS).entrySet().stream()
                .filter(one -> one.getValue().count() > 0)
                .map(one ->
                        (Result)
                                OnCpuSection.tree(
                                        found,
                                        one.getKey() + " stacks",
                                        Unit.COUNT,
                                        one.getValue()))
                .toList();
    }
}
