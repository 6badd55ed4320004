package sonde.analysis.sched;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.sched.OffSpans.OffCpuSpan;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackTable;

final class OffSpansTest {
    /** Two threads take turns: the first sleeps 1, 2, 3, … times 10 ns. */
    private static Script turns() {
        Script script = new Script();
        long time = 1000;
        for (int i = 1; i <= 200; i++) {
            script.switched(time, 0, 7, 1, 8);
            time += 10 * i;
            script.switched(time, 0, 8, 0, 7);
            time += 5;
        }
        return script;
    }

    @Test
    void shortSpansAreAddedUp() throws IOException {
        OffSpans spans = new OffSpans(16);
        OffCpu all = new OffCpu();
        ThreadTable threads = new ThreadTable(CountedThreads.everything());
        StackTable stacks = new StackTable(FrameSymbols.none());
        ThreadStates states =
                new ThreadStates(threads, stacks, TimeWindow.ALL, List.of(spans, all));
        Engine.run(turns().recording(), List.of(threads, states));
        List<OffCpuSpan> rows = spans.rows();
        assertThat(spans.merged()).isGreaterThan(100);
        assertThat(rows).hasSizeLessThanOrEqualTo(16 + all.entries().size());
        assertThat(rows).isSortedAccordingTo((a, b) -> Long.compare(a.start(), b.start()));
        assertThat(rows).allMatch(row -> row.end() - row.start() >= row.nanos());
        for (OffCpu.Entry entry : all.entries()) {
            List<OffCpuSpan> own =
                    rows.stream().filter(row -> row.cause().equals(entry.cause())).toList();
            assertThat(own.stream().mapToLong(OffCpuSpan::nanos).sum())
                    .isEqualTo(entry.sum().nanos());
            assertThat(own.stream().mapToLong(OffCpuSpan::count).sum())
                    .isEqualTo(entry.sum().count());
        }
    }
}
