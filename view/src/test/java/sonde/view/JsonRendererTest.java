package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.view.Examples.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Frame;
import sonde.event.result.Listing;
import sonde.event.result.Report;
import sonde.event.result.Table;
import sonde.event.result.Unit;
import sonde.testkit.Golden;

class JsonRendererTest {
    @Test
    void everyKindHasItsShape() throws IOException {
        Report all =
                new Report(
                        "All",
                        List.of("One."),
                        List.of(
                                Examples.calls(),
                                Examples.tree(),
                                Examples.histogram(),
                                Examples.timeline()));
        Golden.of("view", JsonRendererTest.class).check("all.json", json(all));
    }

    @Test
    void keysAreSnakeCaseAndUnique() {
        assertThat(JsonRenderer.key("Block I/O: latency (p99)")).isEqualTo("block_i_o_latency_p99");
        assertThat(JsonRenderer.key("—")).isEqualTo("_");
        Table table =
                new Table(
                        "t",
                        List.of(Column.count("a b"), Column.count("a-b")),
                        List.of(List.of(1L, 2L)));
        assertThat(json(table)).contains("{\"a_b\":1,\"a_b_2\":2}");
    }

    @Test
    void hostileNamesStayValidJson() throws IOException {
        Table table =
                new Table(
                        Examples.HOSTILE,
                        List.of(Column.text(Examples.HOSTILE)),
                        List.of(List.of(Examples.HOSTILE)));
        Report report = new Report("", List.of(Examples.HOSTILE), List.of(table));
        String text = json(report);
        assertThat(tokens(text)).isPositive();
        assertThat(text).contains("\\u001B").contains("\ufffd");
    }

    @Test
    void depthIsCut() throws IOException {
        CallTree.Node root = new CallTree.Node(Frame.label("all"));
        CallTree.Node node = root;
        for (int i = 0; i < 2 * JsonRenderer.MAX_DEPTH; i++) {
            node = node.child(new Frame("f" + i, "", Frame.Kind.USER));
        }
        node.add(1, 1);
        String text = json(new CallTree("deep", Unit.COUNT, root));
        assertThat(tokens(text)).isPositive();
        assertThat(text).contains("\"cut\":true").doesNotContain("\"f513\"");
    }

    @Test
    void listingIsPassedThrough() {
        Listing listing =
                new Listing(
                        "events",
                        List.of(),
                        (out, form) -> out.write(form.name().getBytes(StandardCharsets.US_ASCII)));
        assertThat(json(listing)).isEqualTo("JSON_LINES");
    }

    private static int tokens(String text) throws IOException {
        JsonFactory factory =
                JsonFactory.builder()
                        .streamReadConstraints(
                                StreamReadConstraints.builder().maxNestingDepth(5000).build())
                        .build();
        int count = 0;
        try (JsonParser parser = factory.createParser(text)) {
            while (parser.nextToken() != null) {
                count++;
            }
        }
        return count;
    }
}
