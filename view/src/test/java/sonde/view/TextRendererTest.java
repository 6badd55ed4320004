package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.view.Examples.text;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Frame;
import sonde.event.result.Live;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Unit;

class TextRendererTest {
    private static final Style ASCII = new Style(60, false, false);

    @Test
    void tableAlignsDigitsAndUnits() throws IOException {
        Golden.check("table.txt", text(Examples.calls(), Style.PLAIN));
    }

    @Test
    void tableShrinksItsWidestText() {
        Table table =
                new Table(
                        "Files",
                        List.of(Column.text("path"), Column.count("reads")),
                        List.of(List.of("/usr/lib/x86_64-linux-gnu/libc.so.6", 12L)));
        assertThat(text(table, new Style(30, false, true)))
                .isEqualTo(
                        """
                        Files
                          path                   reads
                          /usr/lib/x86_64-linu…     12
                        """);
    }

    @Test
    void longTextWithoutEdgeDoesNotWidenOtherRows() {
        String name = "x".repeat(10_000);
        Table table =
                new Table(
                        "",
                        List.of(Column.text("name"), Column.count("n")),
                        List.of(List.of(name, 1L), List.of("y", 2L)));
        String[] lines = text(table, Style.PLAIN).split("\n");
        assertThat(lines[1]).isEqualTo(name + "  1");
        assertThat(lines[2]).isEqualTo("y" + " ".repeat(73) + "2");
    }

    @Test
    void treeFoldsChainsAndSumsWhatIsSmall() throws IOException {
        Golden.check("tree.txt", text(Examples.tree(), Style.PLAIN));
    }

    @Test
    void treeInAsciiHasOnlyAscii() throws IOException {
        String text = text(Examples.tree(), ASCII);
        assertThat(text).matches("\\p{ASCII}*");
        Golden.check("tree-ascii.txt", text);
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
        String text = text(new CallTree("Deep", Unit.COUNT, root), new Style(80, false, true));
        assertThat(text.lines().mapToInt(String::length)).allMatch(n -> n <= 80);
        assertThat(text.lines().count()).isLessThan(150);
    }

    @Test
    void histogramDrawsBars() throws IOException {
        Golden.check("histogram.txt", text(Examples.histogram(), Style.PLAIN));
        assertThat(text(Examples.histogram(), ASCII)).matches("\\p{ASCII}*").contains("###");
    }

    @Test
    void timelineGivesSharesAndStrip() throws IOException {
        Golden.check("timeline.txt", text(Examples.timeline(), Style.PLAIN));
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
        assertThat(text(part, Style.PLAIN)).contains("█".repeat(48));
        assertThat(text(part, Style.PLAIN))
                .contains("100.0 %")
                .doesNotContain("10.0 %")
                .doesNotContain("500.0 %");
    }

    @Test
    void reportIsTitleNotesSections() throws IOException {
        Golden.check("report.txt", text(Examples.report(), new Style(50, false, true)));
    }

    @Test
    void emptyResultsSaySo() {
        Table table = new Table("Losses", List.of(Column.count("n")), List.of());
        assertThat(text(table, Style.PLAIN)).isEqualTo("Losses\n  none\n");
    }

    @Test
    void liveShowsEveryState() {
        Deque<Result> states = new ArrayDeque<>(List.of(Examples.histogram(), Examples.calls()));
        String text = text(new Live("now", states::poll), Style.PLAIN);
        assertThat(text).startsWith("now\nRun queue latency\n").contains("\n\nSystem calls\n");
    }

    @Test
    void coloursOnlyWhenTold() {
        for (Result result : List.of(Examples.report(), Examples.tree(), Examples.timeline())) {
            assertThat(text(result, new Style(80, false, true))).doesNotContain("\033");
            assertThat(text(result, new Style(80, true, true))).contains("\033[1m");
        }
    }
}
