package sonde.tools.report.section;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import sonde.event.result.CallTree;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.open.ReportSource;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportRecipe;
import sonde.tools.report.ReportSection;

/** The sections of a report, in the order in which it shows them. */
public final class ReportSections {
    /** The screenful that is shown when no section is asked for. */
    public static final ReportSection SUMMARY = new SummarySection();

    /** Every section. */
    public static final List<ReportSection> ALL =
            List.of(
                    SUMMARY,
                    new ThreadsSection(),
                    new ThreadsNowSection(),
                    new OnCpuSection(),
                    new OffCpuSection(),
                    new SyscallsSection(),
                    new BlockIoSection(),
                    new FilesSection(),
                    new FaultsSection(),
                    new EventStacksSection(),
                    new FunctionsSection(),
                    new WakeUpsSection(),
                    new IncidentsSection(),
                    new LossesSection(),
                    new StatsSection());

    private ReportSections() {}

    /** The sections with these options, which are given without dashes. */
    public static List<ReportSection> named(String... names) {
        return ALL.stream()
                .filter(section ->
                        Arrays.stream(names)
                                .anyMatch(name -> section.options().contains("--" + name)))
                .toList();
    }

    /**
     * The screenful about a bundle, a trace.dat or a perf.data.
     *
     * @throws IOException when it cannot be read
     */
    public static Report summary(Path path) throws IOException {
        return of(path, List.of(SUMMARY));
    }

    /** The functions that a tracer recorded, in a screenful: without their tree of calls. */
    public static Report functions(Path path) throws IOException {
        Report all = of(path, named("functions"));
        List<Result> shown =
                all.sections().stream().filter(one -> !(one instanceof CallTree)).toList();
        return new Report(all.title(), all.answer(), all.notes(), shown);
    }

    private static Report of(Path path, List<ReportSection> sections) throws IOException {
        try (ReportSource source = ReportSource.open(path)) {
            return new ReportRecipe(ReportOptions.of(sections)).run(source);
        }
    }
}
