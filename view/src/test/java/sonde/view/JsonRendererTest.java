package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.view.Examples.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Document;
import sonde.event.result.Frame;
import sonde.event.result.Listing;
import sonde.event.result.Report;
import sonde.event.result.RowOutput;
import sonde.event.result.RowStream;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
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
    void documentsAreTheirValuesAlone() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("id", 7L);
        map.put("pids", List.of(Map.of("pid", 1, "comm", "\033[2J")));
        map.put("share", 0.5);
        map.put("none", null);
        Listing shown = Listing.ofLines(out -> out.println("id 7"));
        assertThat(json(Document.of(List.of(map), shown)))
                .startsWith("[{\"id\":7,\"pids\":[{")
                .contains("\"comm\":\"\\u001B[2J\"")
                .endsWith("}],\"share\":0.5,\"none\":null}]\n");
        assertThat(json(new Document(out -> out.value(List.of(1, 2)), shown, 1)))
                .isEqualTo("[\n  1,\n  2\n]\n");
        assertThat(Examples.text(Document.of(map, shown), TerminalStyle.PLAIN)).isEqualTo("id 7\n");
    }

    @Test
    void aLayoutIsTextAndItsValuesAreTheRest() throws IOException {
        Table table = new TableBuilder<String>("names").text("name", n -> n).table(List.of("a"));
        TextLayout layout = new TextLayout(table, out -> out.println("name: a"));
        assertThat(json(layout)).isEqualTo(json(table));
        assertThat(json(new Report("all", List.of(), List.of(layout))))
                .isEqualTo(json(new Report("all", List.of(), List.of(table))));
        assertThat(Examples.text(layout, TerminalStyle.PLAIN)).isEqualTo("name: a\n");
        ByteArrayOutputStream csv = new ByteArrayOutputStream();
        new CsvRenderer().render(layout, csv);
        assertThat(csv.toString(StandardCharsets.UTF_8)).isEqualTo("name\na\n");
    }

    /** What a script prints itself may move the cursor; lines of files may not. */
    @Test
    void bytesThatShallPassUnchangedDo() throws IOException {
        byte[] bytes = "\033[1mbold\n".getBytes(StandardCharsets.UTF_8);
        Listing made =
                new Listing("", List.of(), (out, _) -> RowOutput.unchanged(out).write(bytes));
        assertThat(Examples.text(made, TerminalStyle.PLAIN)).isEqualTo("\033[1mbold\n");
        Listing foreign = new Listing("", List.of(), (out, _) -> out.write(bytes));
        assertThat(Examples.text(foreign, TerminalStyle.PLAIN)).isEqualTo("\\x1b[1mbold\n");
    }

    @Test
    void rowsHaveOneValueInEachForm() throws IOException {
        List<Column> columns = List.of(Column.text("name"), Column.count("n"));
        List<List<@Nullable Object>> values = new ArrayList<>();
        values.add(List.of("a,\"b\"", 1L));
        values.add(Arrays.asList(null, 22L));
        Table table = new Table("", columns, values);
        ByteArrayOutputStream csv = new ByteArrayOutputStream();
        new CsvRenderer().render(table, csv);
        assertThat(csv.toString(StandardCharsets.UTF_8))
                .isEqualTo("name,n\n\"a,\"\"b\"\"\",1\n,22\n");
        RowStream rows = CsvRenderer.rows(table);
        assertThat(json(rows))
                .isEqualTo("{\"name\": \"a,\\\"b\\\"\", \"n\": 1}\n{\"name\": null, \"n\": 22}\n");
        assertThat(Examples.text(rows, TerminalStyle.PLAIN))
                .isEqualTo("name    n\na,\"b\"   1\n-      22\n");
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
