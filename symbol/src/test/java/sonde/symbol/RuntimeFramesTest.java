package sonde.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.event.result.Frame;

/** The file of a bundle that says what addresses of frames of run times mean. */
final class RuntimeFramesTest {
    private static final Frame OUTER =
            new Frame("Shop.total", "shop.py", Frame.Kind.JIT).at("/srv/shop.py", 14);
    private static final Frame INNER =
            new Frame("add", "Math.java", Frame.Kind.JIT, true, "Math.java", 3);

    private static RuntimeFrames parse(CharSequence text) {
        return RuntimeFrames.parse(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static long address(int place) {
        return RuntimeFrames.address(0, place);
    }

    @Test
    void framesComeBackAsTheyWereWritten() {
        StringBuilder text = new StringBuilder();
        RuntimeFrames.append(text, address(1), List.of(OUTER), 12);
        RuntimeFrames.append(text, address(7), List.of(INNER, OUTER), 0);
        RuntimeFrames frames = parse(text);
        for (long at : new long[] {address(1), address(1) - 1}) {
            assertThat(frames.of(at)).containsExactly(OUTER);
            assertThat(frames.function(at)).isEqualTo(OUTER.at("/srv/shop.py", 12));
        }
        assertThat(frames.of(address(7))).containsExactly(INNER, OUTER);
        assertThat(frames.function(address(7)).file()).isEmpty();
        assertThat(frames.of(address(2)).getFirst().name()).isEqualTo("[run time]");
    }

    @Test
    void namesCannotMakeLines() {
        StringBuilder text = new StringBuilder();
        Frame hostile = new Frame("a\n100000000000006 2 b\tc\u001b[31m", "m\n", Frame.Kind.JIT);
        RuntimeFrames.append(text, address(3), List.of(hostile), 0);
        assertThat(text.toString().lines()).hasSize(1);
        assertThat(text.toString()).doesNotContain("\u001b");
        assertThat(parse(text).of(address(3))).hasSize(1);
    }

    @Test
    void linesThatMakeNoSenseAreLeftOut() {
        RuntimeFrames frames =
                parse("x\n100000000000002 2 f\n100000000000004 2 f\tm\tf.py\t99999999999:x\n");
        assertThat(frames.of(address(1)).getFirst().name()).isEqualTo("[run time]");
        assertThat(frames.of(address(2)).getFirst().line()).isZero();
    }

    @Test
    void addressesAreOfNoProcess() {
        ProcessMaps maps = new ProcessMaps();
        maps.mapped(0, 5, new CodeMapping(1 << 20, 1 << 20, 0, "/bin/x"));
        long address = address(9);
        long location = maps.location(5, address);
        assertThat(maps.isCode(5, address)).isTrue();
        assertThat(maps.location(6, address - 1)).isEqualTo(location);
        assertThat(maps.location(5, address(10))).isNotEqualTo(location);
        CodeModule module = maps.module(location);
        assertThat(module).isNotNull();
        assertThat(module.kind()).isEqualTo(CodeModule.Kind.RUN_TIME);
    }
}
