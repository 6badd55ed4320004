package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.event.result.CallChains;
import sonde.event.result.CallTree;
import sonde.event.result.Column;
import sonde.event.result.Frame;
import sonde.event.result.Listing;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.Timeline;
import sonde.event.result.Timeline.TimelineRow;
import sonde.event.result.Unit;

class TextEscapeTest {
    @Test
    void showsControlsAsNumbers() {
        assertThat(TextEscape.line(Examples.HOSTILE))
                .isEqualTo("a\\x1b]0;x\\x07\\x0ab\\u202etxt\\x85\\ud800</script>");
        assertThat(TextEscape.line("grüße 線 𝛼 C++<int>")).isEqualTo("grüße 線 𝛼 C++<int>");
    }

    @Test
    void nothingHostilePassesAnyKindOfResult() {
        String bad = Examples.HOSTILE;
        CallTree.Node root = new CallTree.Node(Frame.label(bad));
        root.child(new Frame(bad, bad, Frame.Kind.USER)).add(5, 1);
        TimelineRow track =
                new TimelineRow(bad, 1, 1, new long[] {0}, new long[] {5}, new byte[] {0});
        CallChains none = new CallChains(List.of(), new int[0], new int[0]);
        List<Result> sections =
                List.of(
                        new Table(bad, List.of(Column.text(bad)), List.of(List.of(bad))),
                        new CallTree(bad, Unit.COUNT, root),
                        new Timeline(bad, 0, 5, List.of(bad), List.of(track), none, List.of()));
        for (int width : new int[] {0, 20, 80}) {
            String text =
                    Examples.text(
                            new Report(bad, List.of(bad), sections),
                            new TerminalStyle(width, false, true));
            assertThat(text.replace("\n", "")).doesNotContainPattern("[\\p{Cc}\\p{Cf}\\p{Cs}]");
            assertThat(text).contains("\\x1b");
        }
    }

    @Test
    void rowsOfListingsAreFiltered() throws IOException {
        byte[] row = {
            'a',
            0x1b,
            '[',
            'J',
            (byte) 0xc2,
            (byte) 0x9b,
            (byte) 0x9b,
            (byte) 0xe2,
            (byte) 0x82,
            (byte) 0xac,
            '\t',
            (byte) 0xed,
            (byte) 0xa0,
            (byte) 0x80,
            '\n',
            (byte) 0xf0
        };
        Listing listing = new Listing("", List.of(), (out, form) -> out.write(row));
        assertThat(Examples.text(listing, TerminalStyle.PLAIN))
                .isEqualTo("a\\x1b[J\\x9b\\x9b€\t\\xed\\xa0\\x80\n\\xf0");
    }

    @Test
    void filterEqualsItselfWhereverItIsSplit() throws IOException {
        Random random = new Random(7);
        for (int round = 0; round < 2000; round++) {
            byte[] bytes = new byte[12];
            random.nextBytes(bytes);
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            ByteArrayOutputStream split = new ByteArrayOutputStream();
            try (OutputStream out = new ListingRenderer.SafeOutput(whole)) {
                out.write(bytes);
            }
            try (OutputStream out = new ListingRenderer.SafeOutput(split)) {
                for (byte b : bytes) {
                    out.write(b);
                }
            }
            String text = whole.toString(StandardCharsets.UTF_8);
            assertThat(text)
                    .as(HexFormat.of().formatHex(bytes))
                    .isEqualTo(split.toString(StandardCharsets.UTF_8))
                    .doesNotContain("\ufffd")
                    .doesNotContainPattern("[\\p{Cc}&&[^\n\t]]");
        }
    }
}
