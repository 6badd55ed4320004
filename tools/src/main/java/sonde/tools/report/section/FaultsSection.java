package sonde.tools.report.section;

import java.util.List;
import sonde.event.result.Result;
import sonde.event.result.Unit;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** The samples of page faults. */
final class FaultsSection implements ReportSection {
    @Override
    public List<String> options() {
        return List.of("--faults");
    }

    @Override
    public String help() {
        return "show page faults as a call tree";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(ReportOperators.FAULTS);
    }

    @Override
    public boolean showsChains() {
        return true;
    }

    @Override
    public List<Result> results(ReportOperators found) {
        return List.of(
                OnCpuSection.tree(
                        found, "page faults", Unit.COUNT, found.of(ReportOperators.FAULTS)));
    }
}
