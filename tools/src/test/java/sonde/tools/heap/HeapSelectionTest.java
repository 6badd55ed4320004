package sonde.tools.heap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.event.heap.HeapSums;
import sonde.event.result.Report;
import sonde.event.result.Table;
import sonde.exchange.heap.HeapFile;
import sonde.exchange.heap.HeapFormat;

class HeapSelectionTest {
    private static HeapFile read(String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return HeapFormat.read(new ByteArrayInputStream(bytes), HeapSums.UNKNOWN);
    }

    private static HeapView view() {
        return new HeapView("a", Set.of(), 10, 5, true, "", List.of());
    }

    /** As LLVM's TemplateMatch (sanitizer_common.cpp) answers. */
    @ParameterizedTest
    @CsvSource({
        "grow, my_grow_more, true",
        "^grow, my_grow, false",
        "^grow, grow_more, true",
        "grow$, my_grow, true",
        "grow$, grow_more, false",
        "a*c, xabbcx, true",
        "a*c$, abcd, false",
        "^a*c$, abcc, true",
        "^a*b*c$, ac, false",
        "*, x, true",
    })
    void patternsOfSuppressions(String pattern, String text, boolean expected) {
        assertThat(HeapSelection.matches(pattern, text)).isEqualTo(expected);
    }

    @Test
    void suppressedLeaksAreNamedAndTheTotalsKeepThem() throws IOException {
        HeapFile file = HeapSelection.without(read(HeaptrackFileTest.TEXT), List.of("inner"));
        assertThat(file.profile().totals().liveBytes()).isEqualTo(16);
        assertThat(file.profile().stacks()).allMatch(stack -> stack.sums().liveBytes() == 0);
        assertThat(file.profile().notes())
                .containsExactly(
                        "Suppressed by leak:inner: 16 B that were not freed. The totals have them.");
    }

    @Test
    void stacksWithAFunction() throws IOException {
        HeapFile file = HeapSelection.with(read(HeaptrackFileTest.TEXT), "grow");
        assertThat(file.profile().totals().calls()).isEqualTo(3);
        assertThat(file.profile().totals().peakBytes()).isEqualTo(48);
    }

    @Test
    void theDifferenceOfTwoFiles() throws IOException {
        HeapFile before = read(HeaptrackFileTest.TEXT);
        // two more blocks of main that stay
        HeapFile after = read(HeaptrackFileTest.TEXT + "+ 2\n+ 2\n");
        Report report = new HeapDifference(before.profile(), after.profile(), view()).report();
        assertThat(report.answer())
                .containsExactly(
                        "The peak grew from 96 B to 112 B; main prog.c:20 has 48 B more.",
                        "What was not freed grew from 16 B to 112 B; main prog.c:20 has 96 B more.");
        Table leaked =
                report.sections().stream()
                        .filter(section -> section.title().equals("leaked"))
                        .map(Table.class::cast)
                        .findFirst()
                        .orElseThrow();
        assertThat(leaked.rows()).containsExactly(List.of(96L, 0L, 96L, "main prog.c:20", "prog"));
        Report same = new HeapDifference(before.profile(), before.profile(), view()).report();
        assertThat(same.answer()).first().asString().startsWith("The peak did not change");
    }

    @Test
    void thePageHasAFlameGraphForEachMeasure() throws IOException {
        HeapFile file = read(HeaptrackFileTest.TEXT);
        HeapPage page = HeapPage.of(new HeapReport(file, view().onPage()).report(), file.profile());
        assertThat(page.timeline().samples())
                .extracting(set -> set.name(), set -> Arrays.stream(set.weight()).sum())
                .containsExactly(
                        tuple("peak flame graph", 96L),
                        tuple("leaked flame graph", 16L),
                        tuple("allocations flame graph", 4L),
                        tuple("temporary flame graph", 2L),
                        tuple("allocated flame graph", 112L));
        // main is the caller of all stacks, and stands once
        assertThat(page.timeline().stacks().parent()).containsOnlyOnce(-1);
        assertThat(page.report().sections())
                .extracting(section -> section.title())
                .contains("curve", "sizes", "leaked");
    }
}
