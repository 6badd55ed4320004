package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LogLinesTest {
    @Test
    void linesOfAllProcessorsComeInTheOrderOfTime() throws IOException {
        Script script =
                new Script()
                        .printed(110, 0, 10, "Oops: 0000 [#1] SMP")
                        .printed(300, 0, 10, " vfs_read+0x1/0x9")
                        .signal("signal_generate", 120, 1, 20, 9, 10)
                        .printed(200, 1, 20, "CPU: 1 PID: 20")
                        // Outside the window.
                        .printed(900, 1, 20, "later");
        List<String> lines = new ArrayList<>();
        LogLines log =
                new LogLines(
                        (time, cpu, tid, text) ->
                                lines.add(time + " " + cpu + " " + tid + " " + text),
                        new TimeWindow(0, 800));
        Engine.run(script.recording(), List.of(log));
        assertThat(lines)
                .containsExactly(
                        "110 0 10 Oops: 0000 [#1] SMP",
                        "200 1 20 CPU: 1 PID: 20",
                        "300 0 10  vfs_read+0x1/0x9");
    }
}
