package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.CallChains;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Frame;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.TimelineLanes;
import sonde.event.result.TimelineLanes.CpuLane;
import sonde.event.result.TimelineLanes.MarkLane;
import sonde.event.result.TimelineSamples;
import sonde.event.result.Unit;
import sonde.testkit.Browser;

/** A storm of 200 processes, a pool of 50 threads, two CPUs, signals and losses. */
@Tag("page")
class PageLanesTest {
    private static final int STORM = 200;
    private static final int POOL = 50;
    private static final int FIRST_OF_POOL = STORM + 1;
    private static final String LOST = "355,383 events were lost while recording.";

    @TempDir static Path folder;
    private static Browser browser;

    @BeforeAll
    static void start() throws IOException {
        Assumptions.assumeTrue(Browser.isPresent(), "no chromium here");
        Path file = folder.resolve("storm.html");
        try (OutputStream out = Files.newOutputStream(file)) {
            new HtmlRenderer().write(report(), timeline(), out);
        }
        browser = Browser.start(1440, 1000);
        browser.open(file.toUri());
        browser.await("globalThis.sonde");
        browser.frame();
    }

    @AfterAll
    static void stop() throws IOException {
        if (browser != null) {
            assertThat(browser.errors()).isEmpty();
            browser.close();
        }
    }

    private static TimelineRow track(String comm, String command, int pid, int tid, long from) {
        return new TimelineRow(
                comm + " " + tid,
                command,
                pid,
                tid,
                new long[] {from, from + 40},
                new long[] {from + 40, from + 100},
                new byte[] {0, 1},
                new long[] {40, 60});
    }

    private static Timeline timeline() {
        List<TimelineRow> tracks = new ArrayList<>();
        for (int i = 0; i < STORM; i++) {
            tracks.add(track("sh", "sh", 1000 + i, 1000 + i, 10 * i));
        }
        tracks.add(track("java", "java", 50, 50, 0));
        for (int i = 0; i < POOL; i++) {
            tracks.add(track("worker-" + i, "java", 50, 51 + i, i));
        }
        List<Frame> frames =
                List.of(
                        Frame.label("sh"),
                        new Frame("do_wait", "[kernel]", Frame.Kind.KERNEL),
                        Frame.label("[sleeping in wait4]"),
                        Frame.label("[woken by sh]"),
                        Frame.label("[waiting for CPU]"));
        CallChains stacks =
                new CallChains(frames, new int[] {-1, 0, 1, 2, 0, 4}, new int[] {0, 1, 2, 3, 4, 3});
        TimelineSamples off =
                TimelineSamples.spans(
                        "off-cpu",
                        new long[] {40, 50},
                        new int[] {0, 1},
                        new int[] {3, 5},
                        new long[] {60, 20});
        CpuLane cpu =
                new CpuLane(
                        3,
                        new long[] {0, 1000},
                        new long[] {500, 1500},
                        new long[] {500, 125},
                        new int[] {0, FIRST_OF_POOL});
        MarkLane marks =
                new MarkLane(
                        "signal:signal_generate",
                        2,
                        new long[] {5, 1995},
                        new int[] {0, -1},
                        List.of("sig=17 comm=sh", "sig=9"));
        return new Timeline(
                "",
                0,
                2000,
                List.of("running", "sleeping"),
                tracks,
                stacks,
                List.of(
                        off,
                        TimelineSamples.moments(
                                "page-faults",
                                Unit.COUNT,
                                new long[] {700, 700, 700, 700, 700, 700, 700, 700},
                                new int[8],
                                new int[] {1, 1, 1, 1, 1, 1, 1, 1},
                                new long[] {1, 1, 1, 1, 1, 1, 1, 1})),
                new long[] {40 * tracks.size(), 60 * tracks.size()},
                new TimelineLanes(List.of(cpu), List.of(marks), LOST));
    }

    private static Report report() {
        List<String> notes = new ArrayList<>(List.of("0.002 s wall, 252 threads."));
        for (int i = 0; i < 16; i++) {
            notes.add("no symbols: /usr/lib/file" + i);
        }
        List<Result> sections = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            List<List<Object>> rows = new ArrayList<>();
            for (int row = 0; row < 100; row++) {
                rows.add(List.of("name " + row, (long) row));
            }
            sections.add(
                    new Table(
                            "part " + i,
                            List.of(Column.text("name"), Column.count("n")),
                            as(rows)));
        }
        sections.add(new Table("nothing", List.of(Column.text("name")), List.of()));
        CallTree.Node root = new CallTree.Node(Frame.label("all"));
        for (int i = 0; i < 100; i++) {
            root.child(Frame.label("function" + i)).add(100, 1);
        }
        sections.add(new CallTree("stacks", Unit.COUNT, root));
        return new Report("storm.sonde", notes, sections);
    }

    @SuppressWarnings("unchecked")
    private static <T> List<List<T>> as(List<List<Object>> rows) {
        return (List<List<T>>) (List<?>) rows;
    }

    private static Object js(String expression) {
        return browser.evaluate(expression);
    }

    private static String text(String id) {
        return (String) js("document.getElementById('" + id + "').textContent");
    }

    private static List<?> rows() {
        return (List<?>) js("sonde.timeline.rows.map((row) => row.name)");
    }

    private static double[] place(String row, String x) {
        List<?> at =
                (List<?>)
                        js(
                                """
                                (() => {
                                  const { timeline } = sonde;
                                  const i = timeline.rows.findIndex((r) => r.name === '%s');
                                  const box = timeline.surface.canvas.getBoundingClientRect();
                                  return [box.left + %s, box.top + 24 + i * 20 + 10];
                                })()\
                                """
                                        .formatted(row, x));
        return new double[] {(Double) at.get(0), (Double) at.get(1)};
    }

    private static String hover(String row, String x) {
        double[] at = place(row, x);
        browser.move(at[0], at[1]);
        return text("tip");
    }

    @Test
    void lossesComeFirstAndNotesFold() {
        assertThat(text("lost")).startsWith(LOST);
        assertThat(js("document.querySelector('#notes summary').textContent"))
                .isEqualTo("16 notes: no symbols: /usr/lib/file0");
        assertThat(js("document.querySelector('#notes details').open")).isEqualTo(false);
        assertThat((Double) js("document.querySelector('header').offsetHeight")).isLessThan(260);
    }

    @Test
    void processesOfACommandAndThreadsOfAPoolAreOneRowThatOpens() {
        js("sonde.timeline.tree.forEach((row) => { row.open = false; })");
        js("sonde.timeline.rowsChanged()");
        assertThat(rows())
                .isEqualTo(
                        List.of(
                                "CPU 3",
                                "signal:signal_generate",
                                "page faults",
                                "sh ×200",
                                "java 50 ×51"));
        double[] at = place("java 50 ×51", "8");
        browser.click(at[0], at[1]);
        assertThat(rows())
                .isEqualTo(
                        List.of(
                                "CPU 3",
                                "signal:signal_generate",
                                "page faults",
                                "sh ×200",
                                "java 50 ×51",
                                "java 50",
                                "worker-* ×50"));
        js("sonde.timeline.surface.canvas.focus()");
        for (String key :
                List.of("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight")) {
            browser.key(key);
        }
        assertThat(rows()).hasSize(7 + STORM);
        browser.key("Enter");
        browser.frame();
        assertThat(text("range")).isEqualTo("200 threads");
        assertThat(text("states")).contains("running8.00 µs");
        browser.key("Enter");
        browser.key("ArrowLeft");
        browser.frame();
        assertThat(text("range")).isEmpty();
        assertThat(text("states")).contains("running10.0 µs");
        assertThat(rows()).hasSize(7);
    }

    @Test
    void hoverTellsWhatRanOnACpuAndWhatHappened() {
        assertThat(hover("CPU 3", "8")).contains("CPU 3", "busy 31 %");
        assertThat(hover("CPU 3", "sonde.timeline.x(250)")).contains("sh 1000  500 ns");
        assertThat(hover("CPU 3", "sonde.timeline.x(1250)"))
                .contains("mostly worker-0 51, busy 25 % of 500 ns");
        assertThat(hover("CPU 3", "sonde.timeline.x(700)")).doesNotContain("busy 25");
        assertThat(hover("signal:signal_generate", "sonde.timeline.x(5)"))
                .contains("2 events", "sh 1000", "sig=17 comm=sh");
        assertThat(hover("signal:signal_generate", "sonde.timeline.x(1000)"))
                .doesNotContain("sig=");
        assertThat(hover("page faults", "sonde.timeline.x(700)"))
                .contains("8 events", "sh 1000", "do_wait", "… and 2 more");
        assertThat(hover("sh ×200", "30")).contains("200 processes", "running  8.00 µs");
    }

    @Test
    void threadsTableIsGroupedAndAddsUp() {
        js("sonde.open(sonde.views.findIndex((view) => view.name === 'Threads'))");
        String cells =
                "[...document.querySelectorAll('#threads-panel tbody tr')].map((tr) =>"
                        + " tr.cells[0].textContent + '|' + tr.cells[3].textContent)";
        assertThat(js(cells)).isEqualTo(List.of("▸sh ×200|8.00 µs", "▸java 50 ×51|2.04 µs"));
        js("document.querySelectorAll('#threads-panel .fold')[1].click()");
        assertThat(js(cells))
                .isEqualTo(
                        List.of(
                                "▸sh ×200|8.00 µs",
                                "▾java 50 ×51|2.04 µs",
                                "java 50|40 ns",
                                "▸worker-* ×50|2.00 µs"));
    }

    @Test
    void offCpuTimeBelongsToTheCodeThatWaitedNotToWhoEndedIt() {
        js("sonde.open(sonde.views.findIndex((view) => view.name === 'Off CPU'))");
        Object rows =
                js(
                        "[...document.querySelectorAll('#functions tbody tr')].map((tr) =>"
                                + " tr.cells[0].textContent + '|' + tr.cells[2].textContent)");
        assertThat(rows).isEqualTo(List.of("do_wait|60 ns", "[waiting for CPU]|20 ns"));
    }

    @Test
    void indexLeadsToEveryTableAndThePageStaysShort() {
        assertThat(js("[...document.querySelectorAll('#index a')].map((a) => a.textContent)"))
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.LIST)
                .contains("Timeline", "Off CPU", "Threads", "part 0", "part 19", "stacks")
                .doesNotContain("nothing");
        js("location.hash = '#table-part-19'");
        browser.await("!document.getElementById('tables-panel').hidden");
        browser.frame();
        double top =
                (Double)
                        js(
                                "document.getElementById('table-part-19')"
                                        + ".getBoundingClientRect().top");
        assertThat(top).isBetween(-1.0, 1000.0);
        assertThat((Double) js("document.getElementById('tables-panel').offsetHeight"))
                .isLessThan(20 * 560.0);
        assertThat(js("document.querySelector('#table-stacks details').open")).isEqualTo(false);
        assertThat(text("tables-panel")).contains("Nothing in: nothing.");
        js("location.hash = '#%'");
        js("location.hash = '#off-cpu'");
        browser.await("document.getElementById('tables-panel').hidden");
        assertThat(js("sonde.views[sonde.current].name")).isEqualTo("Off CPU");
    }
}
