package sonde.analysis.syscall;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;

final class SyscallDurationsTest {
    private ThreadTable threads = new ThreadTable(CountedThreads.everything());

    private SyscallDurations run(Script script, TimeWindow window) throws IOException {
        SyscallDurations calls = new SyscallDurations(threads, window);
        Engine.run(script.recording(), List.of(threads, calls));
        return calls;
    }

    @Test
    void countsTimesAndErrors() throws IOException {
        Script script = new Script();
        for (int i = 0; i < 100; i++) {
            script.enter(1000L * i, 0, 5, 1).exit(1000L * i + i + 1, 0, 5, 1, i < 10 ? -11 : 3);
        }
        script.enter(200_000, 1, 6, 0).exit(200_500, 0, 6, 0, -4);
        SyscallDurations calls = run(script, TimeWindow.ALL);
        SyscallStats write = calls.of(threads.find(5)).getFirst();
        assertThat(write.number()).isEqualTo(1);
        assertThat(write.latency().count()).isEqualTo(100);
        assertThat(write.latency().sum()).isEqualTo(5050);
        assertThat(write.latency().quantile(0.5)).isEqualTo(50);
        assertThat(write.latency().quantile(0.99)).isEqualTo(99);
        assertThat(write.latency().max()).isEqualTo(100);
        assertThat(write.errors()).isEqualTo(Map.of(11, 10L));
        assertThat(calls.totals(thread -> true))
                .extracting(SyscallStats::number)
                .containsExactly(1, 0);
        assertThat(calls.totals(thread -> thread == threads.find(6)).getFirst().errors())
                .isEqualTo(Map.of(4, 1L));
    }

    @Test
    void whatHasNotReturnedIsPendingUnlessItsThreadDied() throws IOException {
        Script script =
                new Script()
                        .enter(10, 0, 5, 35)
                        .enter(20, 1, 6, 231)
                        .exited(30, 1, 6)
                        .exit(40, 0, 7, 3, 0);
        SyscallDurations calls = run(script, TimeWindow.ALL);
        assertThat(calls.of(threads.find(5)).getFirst().pending()).isEqualTo(1);
        assertThat(calls.of(threads.find(6))).isEmpty();
        assertThat(calls.unmatched()).isEqualTo(1);
    }

    @Test
    void aLossEndsTheOpenCallsOfItsCpu() throws IOException {
        Script script = new Script();
        script.enter(10, 0, 5, 0)
                .enter(10, 1, 6, 0)
                .lost(script.ftrace, 50, 0, 2)
                .exit(100, 0, 5, 0, 1)
                .exit(100, 1, 6, 0, 1);
        SyscallDurations calls = run(script, TimeWindow.ALL);
        assertThat(calls.of(threads.find(5))).isEmpty();
        assertThat(calls.of(threads.find(6)).getFirst().latency().sum()).isEqualTo(90);
    }

    @Test
    void onlyCallsOfTheTreeInsideTheWindowCount() throws IOException {
        threads = new ThreadTable(new CountedThreads(false, Set.of(5), true, 100, Set.of()));
        Script script = new Script();
        for (int tid = 5; tid <= 6; tid++) {
            for (long time : new long[] {50, 150, 250, 350}) {
                script.enter(time, 0, tid, 0).exit(time + 7, 0, tid, 0, 0);
            }
        }
        SyscallDurations calls = run(script, new TimeWindow(0, 300));
        assertThat(calls.of(threads.find(5)).getFirst().latency().count()).isEqualTo(2);
        assertThat(calls.of(threads.find(6))).isEmpty();
    }

    @Test
    void numbersThatNoKernelHasAreIgnored() throws IOException {
        Script script =
                new Script()
                        .enter(10, 0, 5, Integer.MAX_VALUE)
                        .exit(20, 0, 5, 0, 0)
                        .enter(30, 0, Integer.MAX_VALUE, 0)
                        .enter(40, 0, 5, 1 << 30)
                        .exit(50, 0, 5, 0, 0);
        SyscallDurations calls = run(script, TimeWindow.ALL);
        // x32 numbers its calls from 2^30.
        assertThat(calls.of(threads.find(5))).extracting(SyscallStats::number).containsExactly(0);
    }

    @Test
    void callsRecordedByNameCountLikeRawOnes() throws IOException {
        Script script =
                new Script()
                        .namedCall("read", 1000, 5, 0, 7, 3, 4096)
                        .namedCall("openat", 2000, 5, 257, -2, 0, 0);
        SyscallDurations calls = run(script, TimeWindow.ALL);
        assertThat(calls.of(threads.find(5)))
                .extracting(SyscallStats::number)
                .containsExactly(0, 257);
        assertThat(calls.of(threads.find(5)).getFirst().latency().sum()).isEqualTo(10);
        assertThat(calls.of(threads.find(5)).getLast().errors()).isEqualTo(Map.of(2, 1L));
    }

    @Test
    void aCallThatIsRecordedBothWaysCountsOnce() throws IOException {
        Script script = new Script();
        for (int i = 0; i < 10; i++) {
            script.enter(100 * i, 0, 5, 0)
                    .namedCall("read", 100 * i + 1, 5, 0, 7, 3, 4096)
                    .exit(100 * i + 12, 0, 5, 0, 7);
        }
        SyscallDurations calls = run(script, TimeWindow.ALL);
        assertThat(calls.of(threads.find(5))).hasSize(1);
        assertThat(calls.of(threads.find(5)).getFirst().latency().count()).isEqualTo(10);
        assertThat(calls.of(threads.find(5)).getFirst().latency().sum()).isEqualTo(120);
        assertThat(calls.unmatched()).isZero();
    }
}
