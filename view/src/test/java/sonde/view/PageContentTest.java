package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import sonde.assets.Assets;
import sonde.event.result.CallChains;
import sonde.event.result.Column;
import sonde.event.result.Frame;
import sonde.event.result.Report;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.TimelineSamples;
import sonde.event.result.Unit;
import sonde.testkit.Json;

class PageContentTest {
    private static final Report EMPTY = new Report("t", List.of(), List.of());

    @Test
    void columnsAreLebNumbersFromTheStart() throws IOException {
        TimelineRow track =
                new TimelineRow(
                        "a", 1, 2, new long[] {100, 400}, new long[] {300, 401}, new byte[] {1, 0});
        CallChains stacks =
                new CallChains(
                        List.of(Frame.label("x"), Frame.label("y")),
                        new int[] {-1, 0, 0},
                        new int[] {0, 1, 0});
        TimelineSamples samples =
                TimelineSamples.moments(
                        "on-cpu",
                        Unit.NANOS,
                        new long[] {110, 130},
                        new int[] {0, -1},
                        new int[] {2, -1},
                        new long[] {200, 5});
        ByteBuffer data =
                written(
                        EMPTY,
                        new Timeline(
                                "",
                                100,
                                1100,
                                List.of("r", "s"),
                                List.of(track),
                                stacks,
                                List.of(samples)));
        Object document = document(data);
        assertThat(Json.at(document, "length")).isEqualTo(1000.0);
        byte[] columns = new byte[data.remaining()];
        data.get(columns);
        assertThat(columns)
                .containsExactly(
                        0, 0xc8, 1, 1, // gap 0, length 200, state 1
                        100, 1, 0, // gap 100, length 1, state 0
                        1, 1, 2, // parents of 0 (none), 1 (0), 2 (0)
                        0, 1, 0, // frames
                        10, 1, 3, 0xc8, 1, 1, // after 10: track 0, node 2, weight 200, one event
                        20, 0, 0, 5, 1); // after 20: no track, no chain
    }

    @Test
    void whatIsOutOfRangeIsClipped() throws IOException {
        TimelineRow track =
                new TimelineRow(
                        "a",
                        1,
                        2,
                        new long[] {-50, 5, Long.MIN_VALUE, 90},
                        new long[] {10, 8, 3, Long.MAX_VALUE},
                        new byte[] {0, 0, 0, -1});
        CallChains none = new CallChains(List.of(), new int[0], new int[0]);
        ByteBuffer data =
                written(
                        EMPTY,
                        new Timeline("", 0, 100, List.of(), List.of(track), none, List.of()));
        assertThat(document(data).toString()).contains("spans=2.0");
        byte[] columns = new byte[data.remaining()];
        data.get(columns);
        assertThat(columns).containsExactly(0, 10, 0, 80, 10, 0xff, 1);
    }

    @Test
    void numbersThatNoDoubleHoldsAreText() throws IOException {
        Table table =
                new Table(
                        "t",
                        List.of(Column.count("n"), new Column("a", Unit.ADDRESS)),
                        List.of(List.of(Long.MAX_VALUE, -1L), List.of(7L, 16L)));
        ByteBuffer data = written(new Report("r", List.of(), List.of(table)), Examples.timeline());
        assertThat(document(data).toString())
                .contains("[[9,223,372,036,854,775,807, 0xffffffffffffffff], [7.0, 0x10]]");
    }

    @Test
    void assetsStaySmallAndNameNothingTwice() {
        String script = Assets.script();
        String all = script + Assets.text("style.css") + Assets.text("page.html");
        assertThat(all.getBytes(StandardCharsets.UTF_8).length).isLessThan(92_000);
        assertThat(all).doesNotContainPattern("https?://").doesNotContain("innerHTML");
        assertThat(script).doesNotContain("</script").doesNotContainPattern("(?m)^(im|ex)port ");
        Matcher names =
                Pattern.compile("(?m)^(?:async )?(?:class|function|const|let) (\\w+|\\$)")
                        .matcher(script);
        assertThat(names.results().map(found -> found.group(1))).doesNotHaveDuplicates();
    }

    static Object document(ByteBuffer data) {
        byte[] json = new byte[data.getInt()];
        data.get(json);
        return Json.parse(new String(json, StandardCharsets.UTF_8));
    }

    static ByteBuffer written(Report report, Timeline timeline) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new HtmlRenderer().write(report, timeline, out);
        String page = out.toString(StandardCharsets.UTF_8);
        int from = page.indexOf('>', page.indexOf("<script id=\"data\"")) + 1;
        byte[] packed = Base64.getDecoder().decode(page.substring(from, page.indexOf('<', from)));
        try (GZIPInputStream gzip = new GZIPInputStream(new ByteArrayInputStream(packed))) {
            return ByteBuffer.wrap(gzip.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }
}
