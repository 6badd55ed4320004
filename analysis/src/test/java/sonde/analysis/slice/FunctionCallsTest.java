package sonde.analysis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.slice.FunctionCalls.CallLine;
import sonde.analysis.slice.FunctionCalls.CallerCount;
import sonde.analysis.slice.FunctionCalls.FunctionSum;

final class FunctionCallsTest {
    private static final long OPEN = 0xa0;
    private static final long LOOKUP = 0xb0;
    private static final long READ = 0xc0;

    private final ThreadTable threads = new ThreadTable(CountedThreads.everything());

    private FunctionCalls run(Script script) throws IOException {
        FunctionCalls calls =
                new FunctionCalls(
                        threads,
                        new TimeWindow(0, 10_000),
                        _ -> true,
                        address -> "f" + Long.toHexString(address));
        Engine.run(script.recording(), List.of(threads, calls));
        return calls;
    }

    @Test
    void ownTimeIsWithoutWhatWasCalledAlsoWhereThreadsInterleave() throws IOException {
        FunctionCalls calls =
                run(
                        new Script()
                                .calls(100, 1, OPEN, 0)
                                .calls(110, 1, LOOKUP, 1)
                                .calls(115, 2, OPEN, 0)
                                .returns(110, 140, 1, LOOKUP, 1)
                                .calls(150, 1, LOOKUP, 1)
                                .returns(150, 160, 1, LOOKUP, 1)
                                .returns(100, 200, 1, OPEN, 0)
                                .returns(115, 165, 2, OPEN, 0));
        assertThat(calls.sums())
                .containsExactly(
                        new FunctionSum("fa0", 2, 150, 110, 100),
                        new FunctionSum("fb0", 2, 40, 40, 30));
        assertThat(calls.slowest().nanos()).isEqualTo(100);
        assertThat(calls.slowest().lines())
                .containsExactly(
                        new CallLine(0, "fa0", 100, false),
                        new CallLine(1, "fb0", 30, true),
                        new CallLine(1, "fb0", 10, true));
        assertThat(calls.unfinished()).isZero();
    }

    /** A call within one of the same function counts once in the total. */
    @Test
    void recursionIsNotCountedTwice() throws IOException {
        FunctionCalls calls =
                run(
                        new Script()
                                .calls(100, 1, OPEN, 0)
                                .calls(120, 1, OPEN, 1)
                                .returns(120, 150, 1, OPEN, 1)
                                .returns(100, 200, 1, OPEN, 0));
        assertThat(calls.sums()).containsExactly(new FunctionSum("fa0", 2, 100, 100, 100));
    }

    /** What has one end only, by lost events or because it still runs, has no time. */
    @Test
    void callsWithOneEndAreCountedApart() throws IOException {
        FunctionCalls calls =
                run(
                        new Script()
                                // Began before the recording, at the depth of its caller's callee.
                                .returns(10, 90, 1, READ, 3)
                                .calls(100, 1, OPEN, 2)
                                // The return of this one was lost.
                                .calls(110, 1, LOOKUP, 3)
                                .calls(120, 1, READ, 3)
                                .returns(120, 130, 1, READ, 3)
                                .returns(100, 200, 1, OPEN, 2)
                                // A return of something else than what was entered.
                                .calls(210, 1, OPEN, 0)
                                .returns(205, 220, 1, READ, 0)
                                // Still runs at the end.
                                .calls(300, 1, LOOKUP, 0));
        assertThat(calls.sums().stream().filter(sum -> sum.calls() > 0))
                .containsExactly(
                        new FunctionSum("fa0", 1, 100, 90, 100),
                        new FunctionSum("fc0", 1, 10, 10, 10));
        // READ at first, LOOKUP, OPEN and READ that do not match, LOOKUP at the end.
        assertThat(calls.unfinished()).isEqualTo(5);
    }

    /** Linux 6.1: interrupts that hit the tracer between a call and its row. */
    @Test
    void interruptsInTheTracerAreNoEndsOfCalls() throws IOException {
        FunctionCalls calls =
                run(
                        new Script()
                                .calls(100, 1, OPEN, 0)
                                // Within the call of LOOKUP, whose own row comes afterwards.
                                .calls(120, 1, READ, 2)
                                .returns(120, 150, 1, READ, 2)
                                .calls(151, 1, LOOKUP, 1)
                                .returns(110, 160, 1, LOOKUP, 1)
                                .calls(170, 1, LOOKUP, 1)
                                // After LOOKUP returned, and before the row that says so.
                                .calls(180, 1, READ, 1)
                                .returns(180, 190, 1, READ, 1)
                                .returns(170, 175, 1, LOOKUP, 1)
                                .returns(100, 200, 1, OPEN, 0));
        assertThat(calls.sums())
                .containsExactly(
                        new FunctionSum("fc0", 2, 40, 40, 30),
                        new FunctionSum("fa0", 1, 100, 35, 100),
                        new FunctionSum("fb0", 2, 55, 25, 50));
        assertThat(calls.root().callees()).hasSize(1);
        assertThat(calls.unfinished()).isZero();
    }

    /** An emulated machine whose TSC was calibrated badly: 40 ms by the kernel, 4 ms by mono. */
    @Test
    void clocksThatDisagreeAreTold() throws IOException {
        Script script =
                new Script()
                        .calls(100, 1, OPEN, 0)
                        .returns(1_000, 40_001_000, 4_000_100, 1, OPEN, 0);
        FunctionCalls calls =
                new FunctionCalls(threads, TimeWindow.ALL, _ -> true, Long::toHexString);
        Engine.run(script.recording(), List.of(threads, calls));
        assertThat(calls.clockRatio()).isEqualTo(10.0);
    }

    @Test
    void callsOfTheFunctionTracerAreCountedByCaller() throws IOException {
        Script script = new Script().traced(1, 1, OPEN, 0x1000).traced(2, 2, OPEN, 0x1000);
        assertThat(run(script.traced(3, 1, OPEN, 0x2000)).callers())
                .containsExactly(
                        new CallerCount("fa0", "f1000", 2), new CallerCount("fa0", "f2000", 1));
    }

    @Test
    void hostileDepthsAndAThousandTracksAreBounded() throws IOException {
        Script script = new Script();
        for (int i = 0; i < 3000; i++) {
            script.calls(i + 1, 1 + i % 1000, i * 16L + 16, i * 7919 - 1000);
            script.returns(i, i + 2, 1 + i % 7, i * 16L, Integer.MAX_VALUE - i);
        }
        FunctionCalls calls = run(script);
        assertThat(calls.sums().stream().mapToLong(FunctionSum::nanos)).allMatch(one -> one >= 0);
    }
}
