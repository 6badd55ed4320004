package sonde.tools.report.section;

import java.util.List;
import sonde.event.result.Result;
import sonde.tools.report.AnalysisKey;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** What the kernel's log reported during the recording. */
final class IncidentsSection implements ReportSection {
    @Override
    public List<String> options() {
        return List.of("--incidents");
    }

    @Override
    public String help() {
        return "show incidents of the kernel's log, as sonde explain finds them";
    }

    @Override
    public List<AnalysisKey<?>> needs() {
        return List.of(ReportOperators.INCIDENTS);
    }

    @Override
    public List<Result> results(ReportOperators found) {
        return List.of(found.of(ReportOperators.INCIDENTS).list());
    }

    @Override
    public List<String> answer(ReportOperators found) {
        String sentence = found.of(ReportOperators.INCIDENTS).sentence();
        return sentence.isEmpty() ? List.of() : List.of(sentence);
    }
}
