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
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackAggregate;
import sonde.analysis.stack.StackTable;
import sonde.event.result.Timeline.TimelineRow;

final class TimelineTracksTest {
    private static final int RUNNING = ThreadState.RUNNING.ordinal();
    private static final int SLEEPING = ThreadState.SLEEPING.ordinal();

    private final ThreadTable threads = new ThreadTable(CountedThreads.everything());
    private final TimelineTracks tracks = new TimelineTracks();
    private final ThreadStates states =
            new ThreadStates(
                    threads, new StackTable(FrameSymbols.none()), TimeWindow.ALL, List.of(tracks));

    @Test
    void spansAndTheirTimesAreThoseOfTheSwitches() throws IOException {
        Script script =
                new Script()
                        .enter(1000, 0, 10, 0)
                        .switched(1100, 0, 10, 1, 0)
                        .wake(1500, 1, 20, 10)
                        .switched(1540, 0, 0, 0, 10)
                        .switched(1700, 0, 10, 0x20, 0);
        Engine.run(script.recording(), List.of(threads, states));
        int ten = threads.find(10);
        TimelineRow track = tracks.track(threads, ten, "make", 700);
        assertThat(track.name()).isEqualTo("t10 10");
        assertThat(track.starts()).containsExactly(1000, 1100, 1500, 1540);
        assertThat(track.ends()).containsExactly(1100, 1500, 1540, 1700);
        assertThat(track.spanStates())
                .containsExactly(
                        (byte) RUNNING,
                        (byte) SLEEPING,
                        (byte) ThreadState.WAITING.ordinal(),
                        (byte) RUNNING);
        assertThat(track.stateNanos()[RUNNING]).isEqualTo(100 + 160);
        assertThat(track.stateNanos()[SLEEPING]).isEqualTo(400);
        assertThat(track.stateNanos()[ThreadState.WAITING.ordinal()]).isEqualTo(40);
        assertThat(tracks.busiest(thread -> true, 1, 100)).containsExactly(ten);
    }

    @Test
    void joiningForTheScreenKeepsTheTimesExact() {
        int thread = threads.find(10);
        int spans = 100_000;
        for (int i = 0; i < spans; i++) {
            tracks.slice(states, thread, ThreadState.RUNNING, 10L * i, 10L * i + 3);
            tracks.slice(states, thread, ThreadState.SLEEPING, 10L * i + 3, 10L * i + 10);
        }
        TimelineRow track = tracks.track(threads, thread, "make", 10L * spans);
        assertThat(track.starts().length).isLessThanOrEqualTo(2 * TimelineTracks.PIXELS);
        assertThat(track.starts()[0]).isZero();
        assertThat(track.ends()[track.ends().length - 1]).isEqualTo(10L * spans);
        for (int i = 1; i < track.starts().length; i++) {
            assertThat(track.starts()[i]).isEqualTo(track.ends()[i - 1]);
        }
        assertThat(track.stateNanos()[RUNNING]).isEqualTo(3L * spans);
        assertThat(track.stateNanos()[SLEEPING]).isEqualTo(7L * spans);
    }

    @Test
    void joiningWhatRanOnACpuKeepsTheBusyTime() throws IOException {
        int ten = threads.find(10);
        int twenty = threads.find(20);
        CpuTracks cpus = new CpuTracks();
        Script script = new Script().switched(5, 0, 0, 0, 10).switched(6, 0, 10, 1, 20);
        Engine.run(script.recording(), List.of(threads, states)); // both are on CPU 0
        int spans = 100_000;
        for (int i = 0; i < spans; i++) {
            cpus.slice(states, ten, ThreadState.RUNNING, 10L * i, 10L * i + 3);
            cpus.slice(states, twenty, ThreadState.RUNNING, 10L * i + 4, 10L * i + 5);
            cpus.slice(states, ten, ThreadState.SLEEPING, 10L * i + 3, 10L * i + 10);
        }
        CpuTracks.CpuSpans joined = cpus.cpus(10L * spans).get(0);
        long busy = 0;
        for (int i = 0; i < joined.size(); i++) {
            busy += joined.busy(i);
            assertThat(joined.thread(i)).isEqualTo(ten);
            assertThat(joined.end(i) - joined.start(i)).isGreaterThanOrEqualTo(joined.busy(i));
        }
        assertThat(joined.size()).isLessThanOrEqualTo(2 * TimelineTracks.PIXELS);
        assertThat(busy).isEqualTo(4L * spans);
    }

    @Test
    void samplesTellWhatRanOnACpuToo() throws IOException {
        CpuTracks cpus = new CpuTracks();
        StackTable stacks = new StackTable(FrameSymbols.none());
        ThreadStates estimated = new ThreadStates(threads, stacks, TimeWindow.ALL, List.of(cpus));
        StackAggregate samples = StackAggregate.cpuSamples(threads, stacks, TimeWindow.ALL);
        Script script = new Script();
        for (int i = 1; i <= 3; i++) {
            script.sample("cpu-clock", 1000L * i, 3, 10, 10, 400, Script.USER, 1);
        }
        Engine.Extent extent = Engine.run(script.recording(), List.of(threads, samples, estimated));
        assertThat(estimated.estimate(samples, new SampleDuration(true, 0), extent)).isTrue();
        CpuTracks.CpuSpans third = cpus.cpus(0).get(3);
        assertThat(cpus.cpus(0)).containsOnlyKeys(3);
        assertThat(third.size()).isEqualTo(3);
        assertThat(third.start(1)).isEqualTo(1600);
        assertThat(third.end(1)).isEqualTo(2000);
        assertThat(third.busy(1)).isEqualTo(400);
    }
}
