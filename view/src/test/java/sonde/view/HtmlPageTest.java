package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.assets.Assets;
import sonde.event.result.CallChains;
import sonde.event.result.Column;
import sonde.event.result.Frame;
import sonde.event.result.Report;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.TimelineLanes;
import sonde.event.result.TimelineSamples;
import sonde.event.result.Unit;
import sonde.testkit.Browser;

@Tag("page")
class HtmlPageTest {
    private static final String ALL = "sonde.flame.sums.total[sonde.tree.root]";

    @TempDir static Path folder;
    private static final Timeline TIMELINE = Workload.timeline(14, 4000, 5000);
    private static Browser browser;
    private static Path page;

    @BeforeAll
    static void start() throws IOException {
        Assumptions.assumeTrue(Browser.isPresent(), "no chromium here");
        page = write("page.html", Workload.report(), TIMELINE);
        browser = Browser.start(1440, 1000);
    }

    @AfterAll
    static void stop() throws IOException {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void open() {
        open(page);
    }

    private static void open(Path file) {
        browser.open(file.toUri());
        browser.await("globalThis.sonde");
        browser.frame();
    }

    private static Path write(String name, Report report, Timeline timeline) throws IOException {
        Path file = folder.resolve(name);
        try (OutputStream out = Files.newOutputStream(file)) {
            new HtmlRenderer().write(report, timeline, out);
        }
        return file;
    }

    @Test
    void opensWithoutErrorsAndFetchesNothingInBothSchemes() throws IOException {
        for (String scheme : List.of("dark", "light")) {
            browser.colourScheme(scheme);
            open();
            Path shot = folder.resolve(scheme + ".png");
            browser.screenshot(shot);
            assertThat(Files.size(shot)).isGreaterThan(20_000);
            assertThat(browser.errors()).isEmpty();
            assertThat(browser.requests()).containsExactly(page.toUri().toString());
        }
        assertThat(text("title")).isEqualTo(Workload.report().title());
        assertThat(text("notes")).contains(Workload.report().notes());
        assertThat(number(ALL)).isEqualTo(weight(0, Long.MIN_VALUE, Long.MAX_VALUE, f -> true));
    }

    @Test
    void legendHasExactTimesAlsoOfWhatIsNotDrawn() throws IOException {
        // Drawn: one span of 1000 ns. Exact: this thread slept 100 of them; another ran 50.
        TimelineRow track =
                new TimelineRow(
                        "t 1",
                        "t",
                        1,
                        1,
                        new long[] {0},
                        new long[] {1000},
                        new byte[] {0},
                        new long[] {900, 100});
        CallChains none = new CallChains(List.of(), new int[0], new int[0]);
        Timeline timeline =
                new Timeline(
                        "",
                        0,
                        1000,
                        List.of("running", "sleeping"),
                        List.of(track),
                        none,
                        List.of(
                                TimelineSamples.moments(
                                        "on-cpu",
                                        Unit.NANOS,
                                        new long[0],
                                        new int[0],
                                        new int[0],
                                        new long[0])),
                        new long[] {950, 100},
                        TimelineLanes.NONE);
        open(write("totals.html", Workload.report(), timeline));
        assertThat(text("states")).contains("950 ns").contains("100 ns").doesNotContain("≈");
        browser.evaluate("sonde.timeline.only(new Set([0]))");
        browser.frame();
        assertThat(text("states")).contains("900 ns").contains("100 ns");
        browser.evaluate("sonde.timeline.select([0, 500])");
        browser.frame();
        assertThat(text("states")).contains("≈ 500 ns");
        assertThat(text("loading")).isEqualTo("Loading…");
        assertThat(browser.evaluate("document.getElementById('loading').hidden")).isEqualTo(true);
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void aDamagedPageSaysSo() throws IOException {
        Path file = folder.resolve("damaged.html");
        String whole = Files.readString(page);
        int at = whole.indexOf('>', whole.indexOf("<script id=\"data\"")) + 1;
        Files.writeString(file, whole.substring(0, at + 400) + whole.substring(at + 4400));
        browser.open(file.toUri());
        browser.await("document.getElementById('loading').textContent.startsWith('This page')");
        assertThat(browser.evaluate("document.getElementById('loading').hidden")).isEqualTo(false);
    }

    @Test
    void policyRefusesForeignScripts() {
        browser.evaluate(
                "document.body.append(Object.assign(document.createElement('script'),"
                        + " {textContent: 'globalThis.foreign = 1'}))");
        assertThat(browser.evaluate("typeof foreign")).isEqualTo("undefined");
        String fetched = "fetch('http://127.0.0.1:9/').then(() => 'fetched', () => 'refused')";
        assertThat(browser.evaluate(fetched)).isEqualTo("refused");
        assertThat(browser.errors()).anyMatch(e -> e.contains("Content Security Policy"));
    }

    @Test
    void clickOnFrameZoomsAndResetGoesBack() {
        clickFrame("G1ConcurrentMark::mark_from_roots");
        assertThat(focus()).isEqualTo("G1ConcurrentMark::mark_from_roots");
        double width = number("sonde.flame.boxes.find(b => b.node === sonde.flame.focus).wide");
        assertThat(width).isCloseTo(number("sonde.flame.surface.place.clientWidth"), within(0.1));
        assertThat(text("flame-status")).startsWith("G1ConcurrentMark::mark_from_roots");
        clickElement("reset");
        assertThat(focus()).isEqualTo("all");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void hoverTellsWhatAFrameWeighs() {
        double[] at = frame("java.lang.Thread.run");
        browser.move(at[0], at[1]);
        assertThat(text("tip"))
                .startsWith("java.lang.Thread.run")
                .contains("[jit]")
                .containsPattern("\\d+\\.\\d %  [\\d.]+ s");
    }

    @Test
    void searchShowsTheMatchedShare() {
        browser.key("/");
        browser.type("jsonwriter");
        double matched =
                weight(0, Long.MIN_VALUE, Long.MAX_VALUE, f -> f.name().contains("JsonWriter"));
        double all = weight(0, Long.MIN_VALUE, Long.MAX_VALUE, f -> true);
        String share = NumberText.share(matched / all);
        assertThat(text("matched"))
                .isEqualTo(
                        "matched "
                                + share
                                + "  "
                                + NumberText.text(Unit.NANOS, (long) matched, true));
        assertThat(text("functions")).contains("JsonWriter").doesNotContain("malloc");
        browser.key("Escape");
        assertThat(text("matched")).isEmpty();
        browser.key("f", true);
        assertThat(browser.evaluate("document.activeElement.id")).isEqualTo("search");
        browser.type("vector<int, ");
        assertThat(text("matched")).contains("matched");
        browser.evaluate("document.getElementById('search').value = ''");
        browser.type("a[");
        assertThat(text("matched")).startsWith("matched 0.0 %");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void rangeFiltersFlamesLegendAndTables() {
        String before = text("functions");
        String states = text("states");
        double[] from = timelinePoint(1e9);
        double[] to = timelinePoint(2e9);
        browser.drag(from[0], from[1], to[0], to[1]);
        browser.frame();
        double begin = number("sonde.timeline.range[0]");
        double end = number("sonde.timeline.range[1]");
        assertThat(begin).isCloseTo(1e9, within(5e6));
        assertThat(end).isCloseTo(2e9, within(5e6));
        long start = TIMELINE.start();
        double expected = weight(0, start + begin, start + end, f -> true);
        assertThat(number(ALL)).isEqualTo(expected);
        assertThat(text("range")).isEqualTo("1.00 s – 2.00 s (1.00 s)");
        assertThat(text("functions")).isNotEqualTo(before);
        assertThat(text("states")).isNotEqualTo(states);
        browser.key("2");
        double off = weight(1, start + begin, start + end, f -> true);
        assertThat(number(ALL)).isCloseTo(off, within(1.0));
        browser.key("3");
        assertThat(number(ALL)).isCloseTo(off + expected, within(1.0));
        browser.key("Escape");
        browser.frame();
        assertThat(number(ALL)).isGreaterThan(off + expected);
        assertThat(text("states")).isEqualTo(states);
    }

    @Test
    void clickOnAThreadKeepsOnlyThatThread() {
        double[] row = timelinePoint(0);
        browser.click(row[0] - 100, row[1]);
        browser.frame();
        assertThat(text("range")).isEqualTo(TIMELINE.tracks().getFirst().name());
        long expected = 0;
        TimelineSamples samples = TIMELINE.samples().getFirst();
        for (int i = 0; i < samples.time().length; i++) {
            expected += samples.track()[i] == 0 ? samples.weight()[i] : 0;
        }
        assertThat(number(ALL)).isEqualTo(expected);
    }

    @Test
    void wheelAndLettersMoveThroughTime() {
        double[] at = timelinePoint(1e9);
        browser.wheel(at[0], at[1], -200);
        double from = number("sonde.timeline.from");
        double to = number("sonde.timeline.to");
        assertThat((1e9 - from) / (to - from)).isCloseTo(0.25, within(0.01));
        assertThat(to - from).isLessThan(3e9);
        browser.key("d");
        assertThat(number("sonde.timeline.from")).isGreaterThan(from);
        browser.key("s");
        browser.key("f");
        assertThat(number("sonde.timeline.from")).isZero();
        assertThat(number("sonde.timeline.to")).isEqualTo(4e9);
    }

    @Test
    void keyboardWalksAndZooms() {
        browser.evaluate("sonde.flame.surface.canvas.focus()");
        for (int i = 0; i < 5; i++) {
            browser.key("ArrowDown");
        }
        browser.key("ArrowRight");
        browser.key("ArrowLeft");
        browser.key("ArrowUp");
        assertThat(text("flame-status")).startsWith("java.lang.Thread.run");
        browser.key("Enter");
        assertThat(focus()).isEqualTo("java.lang.Thread.run");
        browser.key("Backspace");
        assertThat(focus()).isEqualTo("JavaMain");
        browser.key("Escape");
        assertThat(focus()).isEqualTo("all");
    }

    @Test
    void tablesSortByHeading() {
        browser.key("4");
        clickHeading("threads-panel", 3);
        List<?> times = column("threads-panel", 4);
        assertThat(times).hasSize(14);
        String order =
                "(() => { const t = sonde.threads.table.rows.map(r => r[3]).sort((a, b) => b - a);"
                        + "return sonde.threads.place.querySelector('tbody td').textContent =="
                        + " sonde.threads.table.rows.find(r => r[3] === t[0])[0]; })()";
        assertThat(browser.evaluate(order)).isEqualTo(true);
        clickHeading("threads-panel", 0);
        assertThat(column("threads-panel", 1).getFirst()).isEqualTo("C2 CompilerThre 4217");
        browser.key("5");
        assertThat(text("tables-panel")).contains("futex", "48,213", "9.12 s", "Run queue latency");
    }

    @Test
    void hostileNamesAreInert() throws IOException {
        String evil = "</script><img src=x onerror='globalThis.hacked=1'><svg onload=hacked=1>";
        String long10k = "x\u202e".repeat(5_000);
        List<Frame> frames =
                List.of(
                        new Frame(evil, evil, Frame.Kind.USER),
                        new Frame(long10k, "\033[2J", Frame.Kind.JIT),
                        new Frame("\ud800 \0 --> {{script}}", "", Frame.Kind.KERNEL));
        CallChains stacks = new CallChains(frames, new int[] {-1, 0, 1}, new int[] {0, 1, 2});
        TimelineRow track =
                new TimelineRow(evil, 1, 1, new long[] {0}, new long[] {1000}, new byte[] {0});
        Timeline timeline =
                new Timeline(
                        evil,
                        0,
                        1000,
                        List.of(evil),
                        List.of(track, track),
                        stacks,
                        List.of(
                                TimelineSamples.moments(
                                        evil,
                                        Unit.COUNT,
                                        new long[] {1, 2, 3},
                                        new int[] {0, 7, -1},
                                        new int[] {2, 99, -1},
                                        new long[] {5, 6, -7})));
        Table table = new Table(evil, List.of(Column.text(evil)), List.of(List.of(evil)));
        open(write("evil.html", new Report(evil, List.of(evil), List.of(table)), timeline));
        browser.frame();
        assertThat(browser.evaluate("typeof hacked")).isEqualTo("undefined");
        assertThat(number("document.querySelectorAll('img, svg').length")).isZero();
        assertThat(text("title")).isEqualTo(evil);
        assertThat(browser.evaluate("document.title")).isEqualTo(evil + " · sonde");
        assertThat(text("functions")).contains(evil, "\\u202e", "\\ud800 \\x00");
        double[] at = frame(evil);
        browser.move(at[0], at[1]);
        assertThat(text("tip")).contains(evil);
        browser.key("2");
        browser.key("3");
        assertThat(text("tables-panel")).contains(evil);
        assertThat(browser.errors()).isEmpty();
        assertThat(browser.requests()).hasSize(1);
    }

    @Test
    void emptyRecordingOpens() throws IOException {
        CallChains none = new CallChains(List.of(), new int[0], new int[0]);
        Timeline empty = new Timeline("", 5, 5, List.of(), List.of(), none, List.of());
        open(write("empty.html", new Report("empty", List.of(), List.of()), empty));
        assertThat(browser.errors()).isEmpty();
        assertThat(text("tabs")).isEqualTo("Threads");
    }

    /** Spans, counters, packets: no threads, no samples. */
    @Test
    void aRecordingOfTablesAloneOpensWithThem() throws IOException {
        CallChains none = new CallChains(List.of(), new int[0], new int[0]);
        TimelineSamples nothing =
                TimelineSamples.moments(
                        "on-cpu", Unit.NANOS, new long[0], new int[0], new int[0], new long[0]);
        Timeline empty = new Timeline("", 5, 5, List.of(), List.of(), none, List.of(nothing));
        Table spans = new Table("spans", List.of(Column.text("span")), List.of(List.of("paint")));
        open(write("spans.html", new Report("spans", List.of(), List.of(spans)), empty));
        assertThat(text("tabs")).isEqualTo("ThreadsWhole recording");
        assertThat(text("index")).isEqualTo("ThreadsWhole recordingspans");
        assertThat(browser.evaluate("document.getElementById('tables-panel').hidden"))
                .isEqualTo(false);
        assertThat(browser.evaluate("document.getElementById('timeline-card').hidden"))
                .isEqualTo(true);
        browser.key("/");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void numbersReadAsInText() {
        String script = Assets.text("numbers.js").replace("export ", "");
        long[] values = {
            0,
            7,
            999,
            1000,
            9_994,
            9_995,
            99_949,
            999_500,
            1_048_576,
            123_456_789,
            -1_230_000,
            59_999_500_000L,
            999_600_000_000L,
            3_600_000_000_000L,
            1L << 50
        };
        for (Unit unit : Unit.values()) {
            for (long value : values) {
                if (unit == Unit.ADDRESS && value < 0) {
                    continue; // the page is given addresses as text
                }
                Object shown =
                        browser.evaluate(
                                "(() => {%s; return format('%s', %d)})()"
                                        .formatted(script, unit, value));
                assertThat(shown)
                        .as("%s %d", unit, value)
                        .isEqualTo(NumberText.text(unit, value, true));
            }
        }
    }

    /** Weight of a set's chains within a range that go through a frame. */
    private static double weight(int set, double from, double to, Predicate<Frame> through) {
        TimelineSamples samples = TIMELINE.samples().get(set);
        CallChains stacks = TIMELINE.stacks();
        double sum = 0;
        for (int i = 0; i < samples.time().length; i++) {
            long time = samples.time()[i];
            boolean passes = false;
            for (int n = samples.node()[i]; n >= 0; n = stacks.parent()[n]) {
                passes |= through.test(stacks.frames().get(stacks.frame()[n]));
            }
            if (passes && set == 0) {
                sum += time >= from && time < to ? samples.weight()[i] : 0;
            } else if (passes) {
                double end = Math.min(to, time + samples.weight()[i]);
                sum += Math.max(0, end - Math.max(from, time));
            }
        }
        return sum;
    }

    private static String text(String id) {
        return (String) browser.evaluate("document.getElementById('" + id + "').textContent");
    }

    private static double number(String expression) {
        return (Double) browser.evaluate(expression);
    }

    private static Object focus() {
        return browser.evaluate("sonde.tree.name(sonde.flame.focus)");
    }

    private static double[] frame(String name) {
        List<?> at =
                (List<?>)
                        browser.evaluate(
                                """
                                (() => {
                                  const { flame, tree } = sonde;
                                  const box = flame.boxes
                                      .filter((b) => tree.name(b.node) === '%s')
                                      .sort((a, b) => b.wide - a.wide)[0];
                                  const place = flame.surface.canvas.getBoundingClientRect();
                                  return [place.left + box.x + 5, place.top + box.y + 5];
                                })()\
                                """
                                        .formatted(name.replace("'", "\\'")));
        return new double[] {(Double) at.get(0), (Double) at.get(1)};
    }

    private static void clickFrame(String name) {
        double[] at = frame(name);
        browser.click(at[0], at[1]);
    }

    /** Where a time lies in the first thread's row. */
    private static double[] timelinePoint(double nanos) {
        List<?> at =
                (List<?>)
                        browser.evaluate(
                                """
                                (() => {
                                  const { timeline } = sonde;
                                  const box = timeline.surface.canvas.getBoundingClientRect();
                                  return [box.left + timeline.x(%s), box.top + 34];
                                })()\
                                """
                                        .formatted(nanos));
        return new double[] {(Double) at.get(0), (Double) at.get(1)};
    }

    private static void clickElement(String id) {
        clickAt("document.getElementById('" + id + "')");
    }

    private static void clickHeading(String id, int column) {
        clickAt("document.querySelectorAll('#" + id + " th button')[" + column + "]");
    }

    private static void clickAt(String element) {
        List<?> at =
                (List<?>)
                        browser.evaluate(
                                "(() => { const e = "
                                        + element
                                        + "; e.scrollIntoView({block:"
                                        + " 'center'}); const b = e.getBoundingClientRect();"
                                        + " return [b.left + b.width / 2, b.top + b.height / 2]"
                                        + " })()");
        browser.click((Double) at.get(0), (Double) at.get(1));
    }

    private static List<?> column(String id, int nth) {
        return (List<?>)
                browser.evaluate(
                        "[...document.querySelectorAll('#%s tbody td:nth-child(%d)')]"
                                        .formatted(id, nth)
                                + ".map(td => td.textContent)");
    }
}
