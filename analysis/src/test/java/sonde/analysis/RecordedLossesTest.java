package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.analysis.RecordedLosses.LossOrigin;
import sonde.analysis.RecordedLosses.LossTotal;

final class RecordedLossesTest {
    @Test
    void noticesAreAddedUpBySourceAndCpu() throws IOException {
        Script script = new Script();
        script.lost(script.ftrace, 100, 0, 12)
                .lost(script.ftrace, 200, 0, 30)
                .lost(script.ftrace, 250, 0, 0) // of unknown number
                .lost(script.ftrace, 300, 1, 7)
                .lost(script.perf, 300, 1, 5)
                .enter(400, 0, 10, 1);
        RecordedLosses losses = new RecordedLosses();
        Engine.run(script.recording(), List.of(losses));
        assertThat(losses.sums())
                .containsExactly(
                        java.util.Map.entry(
                                new LossOrigin("perf.data", "lost", 1), new LossTotal(1, 5, 0)),
                        java.util.Map.entry(
                                new LossOrigin("trace.dat", "lost", 0), new LossTotal(3, 42, 1)),
                        java.util.Map.entry(
                                new LossOrigin("trace.dat", "lost", 1), new LossTotal(1, 7, 0)));
    }

    @Test
    void eventsOfThreadsAreCountedFromWhenTheyCount() throws IOException {
        Script script = new Script();
        script.enter(100, 0, 10, 1)
                .exit(110, 0, 10, 1, 0)
                .enter(120, 0, 11, 1)
                .exit(130, 1, 0, 1, 0) // the idle task
                .lost(script.ftrace, 140, 0, 12)
                .exit(500, 0, 10, 1, 0);
        ThreadTable threads =
                new ThreadTable(
                        new CountedThreads(
                                false, java.util.Set.of(10), false, -1, java.util.Set.of()));
        ThreadEvents events = new ThreadEvents(threads, new TimeWindow(0, 400));
        Engine.run(script.recording(), List.of(threads, events));
        assertThat(events.rows(threads.find(10))).isEqualTo(2);
        assertThat(events.rows(threads.find(11))).isZero();
        assertThat(events.nobodys()).isEqualTo(1);
    }
}
