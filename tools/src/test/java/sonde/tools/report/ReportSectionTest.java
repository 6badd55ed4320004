package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.analysis.EventCounts;
import sonde.analysis.EventCounts.TypeCount;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.open.ReportSource;
import sonde.tools.report.section.ReportSections;

/** Sections alone, together, and one that no list has. */
final class ReportSectionTest {
    @TempDir Path folder;

    private List<Result> results(List<ReportSection> sections) throws IOException {
        try (ReportSource source = ReportSource.open(Scripted.write(folder.resolve("bundle")))) {
            return new ReportRecipe(ReportOptions.of(sections)).run(source).sections();
        }
    }

    /** Fails where {@code needs()} lacks an analysis that another section happens to ask for. */
    @Test
    void aSectionAloneShowsWhatItShowsAmongAll() throws IOException {
        List<String> all = results(ReportSections.ALL).stream().map(Result::toString).toList();
        for (ReportSection section : ReportSections.ALL) {
            for (Result result : results(List.of(section))) {
                if (result instanceof Table table) {
                    assertThat(all)
                            .as(section.options() + table.title())
                            .contains(table.toString());
                }
            }
        }
    }

    @Test
    void everySectionIsListed() throws IOException {
        Path sources =
                Path.of(
                        System.getProperty("sonde.root", ".."),
                        "tools/src/main/java/sonde/tools/report/section");
        List<String> listed =
                ReportSections.ALL.stream().map(one -> one.getClass().getSimpleName()).toList();
        try (Stream<Path> files = Files.list(sources)) {
            assertThat(files.map(file -> file.getFileName().toString().replace(".java", "")))
                    .filteredOn(name -> name.endsWith("Section") && !listed.contains(name))
                    .as("sections that ReportSections.ALL lacks")
                    .isEmpty();
        }
    }

    @Test
    void optionsHaveHelpAndOneSectionEach() {
        List<String> options =
                ReportSections.ALL.stream().flatMap(one -> one.options().stream()).toList();
        assertThat(options).doesNotHaveDuplicates().allMatch(option -> option.startsWith("-"));
        assertThat(ReportSections.ALL)
                .filteredOn(one -> !one.options().isEmpty())
                .allMatch(one -> !one.help().isEmpty());
    }

    /** A section of its own: nothing else in the program has to know it. */
    private static final class TwiceSection implements ReportSection {
        private static int started;
        private static final AnalysisKey<EventCounts> COUNTS =
                new AnalysisKey<>(found -> {
                    started++;
                    return found.add(new EventCounts());
                });

        @Override
        public List<String> options() {
            return List.of("--twice");
        }

        @Override
        public String help() {
            return "events, counted twice";
        }

        @Override
        public List<AnalysisKey<?>> needs() {
            return List.of(COUNTS, COUNTS);
        }

        @Override
        public List<Result> results(ReportOperators found) {
            return List.of(
                    new TableBuilder<TypeCount>("twice")
                            .text("event", count -> count.type().qualifiedName())
                            .count("again", TypeCount::rows)
                            .table(found.of(COUNTS).counts()));
        }
    }

    @Test
    void aKeyIsOneAnalysisAndOneThatNobodyNeedsIsNone() throws IOException {
        List<Result> results = results(List.of(new TwiceSection(), new TwiceSection()));
        assertThat(TwiceSection.started).isEqualTo(1);
        assertThat(results).hasSize(2).allMatch(one -> one.toString().contains("sched_switch"));
        assertThat(results.get(0)).isEqualTo(results.get(1));
        ReportSection threads = ReportSections.named("threads").getFirst();
        try (ReportSource source = ReportSource.open(Scripted.write(folder.resolve("other")))) {
            ReportOptions options = ReportOptions.of(List.of(threads));
            ReportOperators found = new ReportOperators(source, options, List.of(), false);
            assertThatThrownBy(() -> threads.results(found))
                    .isInstanceOf(IllegalStateException.class);
        }
    }
}
