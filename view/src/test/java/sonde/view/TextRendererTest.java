package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.view.Examples.text;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Frame;
import sonde.event.result.Histogram;
import sonde.event.result.LiveResult;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.RowStream;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Unit;
import sonde.testkit.Golden;

class TextRendererTest {
    private static final Golden GOLDEN = Golden.of("view", TextRendererTest.class);
    private static final TerminalStyle ASCII = new TerminalStyle(60, false, false);

    @Test
    void tableAlignsDigitsAndUnits() throws IOException {
        GOLDEN.check("table.txt", text(Examples.calls(), TerminalStyle.PLAIN));
    }

    @Test
    void theAnswerStandsFirstInEveryForm() throws IOException {
        Report report =
                new Report("r", List.of("All of it in f."), List.of("2 events."), List.of());
        assertThat(text(report, TerminalStyle.PLAIN))
                .isEqualTo("r\nAll of it in f.\n\n2 events.\n");
        assertThat(Examples.json(report))
                .contains("\"answer\":[\"All of it in f.\"],\"notes\":[\"2 events.\"]");
        assertThat(Examples.json(new Report("r", List.of(), List.of()))).doesNotContain("answer");
        assertThat(PageContentTest.document(PageContentTest.written(report, Examples.timeline())))
                .extracting("answer")
                .isEqualTo(List.of("All of it in f."));
    }

    @Test
    void aLongNameIsShortenedInTheMiddle() {
        Table table =
                new Table(
                        "Files",
                        List.of(Column.text("path"), Column.count("reads")),
                        List.of(List.of("/usr/lib/x86_64-linux-gnu/libc.so.6", 12L)));
        assertThat(text(table, new TerminalStyle(30, false, true)))
                .isEqualTo(
                        """
                        Files
                          path                   reads
                          /usr/lib/x…/libc.so.6     12
                        """);
        assertThat(CellWidths.shorten("日本語日本語", 5, true)).isEqualTo("日…語");
        assertThat(CellWidths.shorten("clock_nanosleep", 9, false)).isEqualTo("cloc~leep");
    }

    @Test
    void withoutTerminalARowIsALine() {
        String name = "x".repeat(10_000);
        String call = "clock_nanosleep ".repeat(10).strip();
        Table table =
                new Table(
                        "",
                        List.of(Column.text("name"), Column.text("call"), Column.count("n")),
                        List.of(
                                List.of(name, call, 1L),
                                List.of("y", "", 2L),
                                List.of("z", call, 3L)));
        String[] lines = text(table, TerminalStyle.PLAIN).split("\n");
        assertThat(lines).hasSize(4);
        assertThat(lines[1]).isEqualTo(name + "  " + call + "  1");
        assertThat(lines[2]).endsWith(" 2").hasSize(lines[0].length());
        assertThat(lines[3]).contains("z  ", call).endsWith(" 3").hasSize(lines[0].length());
    }

    private static Table wide(String name) {
        List<Column> columns = new ArrayList<>(List.of(Column.text("thread")));
        List<Object> row = new ArrayList<>(List.of(name));
        for (int i = 0; i < 6; i++) {
            columns.add(new Column("column" + i, Unit.COUNT));
            row.add(i == 2 ? 0L : 1_000_000L * i + 1);
        }
        return new Table("", columns, List.of(row, row));
    }

    @Test
    void aWideTableLosesWhatSaysNothingThenItsLastColumnsAndSaysSo() {
        assertThat(text(wide("kworker/u8:12-ext4-rsv"), new TerminalStyle(50, false, true)))
                .isEqualTo(
                        """
                        thread               column0    column1    column3
                        kworker/u…-ext4-rsv        1  1,000,001  3,000,001
                        kworker/u…-ext4-rsv        1  1,000,001  3,000,001
                        (no room for column4, column5; a wider terminal, a
                         pipe or --json has all)
                        """);
        // As long as it fits nothing goes.
        assertThat(text(wide("worker 12"), new TerminalStyle(90, false, true)))
                .contains("column2", "column5")
                .doesNotContain("no room");
    }

    @Test
    void aRowOfATableThatHardlyFitsBecomesLines() {
        assertThat(text(wide("worker 12"), new TerminalStyle(24, false, true)))
                .isEqualTo(
                        """
                        thread   worker 12
                        column0  1
                        column1  1,000,001
                        column3  3,000,001
                        column4  4,000,001
                        column5  5,000,001

                        thread   worker 12
                        column0  1
                        column1  1,000,001
                        column3  3,000,001
                        column4  4,000,001
                        column5  5,000,001
                        """);
    }

    @Test
    void sentencesOfACellAreBrokenAtSpacesAndNoWordEver() {
        assertThat(CellWidths.lines("let the host pass its counters", 12, true))
                .containsExactly("let the host", "pass its", "counters");
        assertThat(CellWidths.lines("run java -XX:+PreserveFramePointer now", 12, true))
                .containsExactly("run java", "-XX:+…ointer", "now");
        assertThat(CellWidths.lines("", 5, true)).containsExactly("");
    }

    @Test
    void sentencesBreakWhereTheTerminalEnds() {
        assertThat(WrappedText.of("sonde: ", "       ", "no such event as that", 24))
                .isEqualTo("sonde: no such event as\n       that\n");
        assertThat(WrappedText.of("sonde: ", "       ", "x".repeat(200), 0)).hasLineCount(1);
    }

    @Test
    void treeFoldsChainsAndSumsWhatIsSmall() throws IOException {
        GOLDEN.check("tree.txt", text(Examples.tree(), TerminalStyle.PLAIN));
    }

    @Test
    void treeInAsciiHasOnlyAscii() throws IOException {
        String text = text(Examples.tree(), ASCII);
        assertThat(text).matches("\\p{ASCII}*");
        GOLDEN.check("tree-ascii.txt", text);
    }

    @Test
    void deepTreeStaysWithinTheEdge() {
        CallTree.Node root = new CallTree.Node(Frame.label("all"));
        CallTree.Node node = root;
        for (int i = 0; i < 60; i++) {
            node.child(new Frame("other" + i, "", Frame.Kind.USER)).add(1, 1);
            node = node.child(new Frame("a_rather_long_function_" + i, "", Frame.Kind.USER));
            node.add(1, 1);
        }
        String text =
                text(new CallTree("Deep", Unit.COUNT, root), new TerminalStyle(80, false, true));
        assertThat(text.lines().mapToInt(String::length)).allMatch(n -> n <= 80);
        assertThat(text.lines().count()).isLessThan(150);
    }

    @Test
    void rangesMayBeOpenAndHaveLabels() throws IOException {
        Histogram open =
                new Histogram(
                        "h",
                        Unit.COUNT,
                        false,
                        List.of(
                                new Histogram.Bucket(null, new Histogram.Bound(0, ""), 1),
                                new Histogram.Bucket(
                                        new Histogram.Bound(Long.MIN_VALUE, "8E"), null, 2)));
        assertThat(text(open, TerminalStyle.PLAIN))
                .contains("… – 0  1  ████████████████████\n")
                .contains("8E – …  2  ");
        ByteArrayOutputStream json = new ByteArrayOutputStream();
        new JsonRenderer().render(open, json);
        assertThat(json.toString(StandardCharsets.UTF_8))
                .contains(
                        "[{\"from\":null,\"to\":0,\"count\":1},"
                                + "{\"from\":9223372036854775808,\"to\":null,\"count\":2}]");
    }

    @Test
    void histogramDrawsBars() throws IOException {
        GOLDEN.check("histogram.txt", text(Examples.histogram(), TerminalStyle.PLAIN));
        assertThat(text(Examples.histogram(), ASCII)).matches("\\p{ASCII}*").contains("###");
    }

    @Test
    void timelineGivesSharesAndStrip() throws IOException {
        GOLDEN.check("timeline.txt", text(Examples.timeline(), TerminalStyle.PLAIN));
    }

    @Test
    void spansOutsideTheTimelineAreClipped() {
        Timeline whole = Examples.timeline();
        Timeline part =
                new Timeline(
                        "",
                        1_400,
                        1_500,
                        whole.states(),
                        whole.tracks(),
                        whole.stacks(),
                        List.of());
        assertThat(text(part, TerminalStyle.PLAIN)).contains("█".repeat(48));
        assertThat(text(part, TerminalStyle.PLAIN))
                .contains("100.0 %")
                .doesNotContain("10.0 %")
                .doesNotContain("500.0 %");
    }

    @Test
    void reportIsTitleNotesSections() throws IOException {
        GOLDEN.check("report.txt", text(Examples.report(), new TerminalStyle(50, false, true)));
    }

    @Test
    void emptyResultsSaySo() {
        Table table = new Table("Losses", List.of(Column.count("n")), List.of());
        assertThat(text(table, TerminalStyle.PLAIN)).isEqualTo("Losses\n  none\n");
    }

    @Test
    void liveShowsEveryState() {
        Deque<Result> states = new ArrayDeque<>(List.of(Examples.histogram(), Examples.calls()));
        String text = text(new LiveResult("now", states::poll), TerminalStyle.PLAIN);
        assertThat(text).startsWith("now\nRun queue latency\n").contains("\n\nSystem calls\n");
    }

    @Test
    void coloursOnlyWhenTold() {
        for (Result result : List.of(Examples.report(), Examples.tree(), Examples.timeline())) {
            assertThat(text(result, new TerminalStyle(80, false, true))).doesNotContain("\033");
            assertThat(text(result, new TerminalStyle(80, true, true))).contains("\033[1m");
        }
    }

    @Test
    void rowsOfAQueryAreWholeInAPipeAndFitATerminal() {
        String path = "/usr/lib/x86_64-linux-gnu/".repeat(8) + "libc.so.6";
        RowStream rows =
                RowStream.of(
                        "",
                        List.of(Column.text("file"), Column.count("reads")),
                        () -> List.of(List.of(path, 12L), List.of("y", 3L)));
        assertThat(text(rows, TerminalStyle.PLAIN)).contains(path + "     12\n");
        assertThat(text(rows, new TerminalStyle(30, false, true)))
                .isEqualTo(
                        """
                        file                     reads
                        /usr/lib/x8…u/libc.so.6     12
                        y                            3
                        """);
    }
}
