package sonde.tools.report.section;

import java.util.List;
import sonde.analysis.LossAccount.LossRow;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.ReportSection;

/** What was lost, by source and CPU. */
final class LossesSection implements ReportSection {
    @Override
    public List<String> options() {
        return List.of("--losses");
    }

    @Override
    public String help() {
        return "show lost events by source and CPU";
    }

    @Override
    public List<Result> results(ReportOperators found) {
        return List.of(table(found));
    }

    static Table table(ReportOperators found) {
        return new TableBuilder<LossRow>("losses")
                .text("source", LossRow::source)
                .text("what", LossRow::what)
                .id("cpu", loss -> loss.cpu() < 0 ? null : loss.cpu())
                .count("events", LossRow::events)
                .count("notices", LossRow::notices)
                .table(found.losses().rows());
    }
}
