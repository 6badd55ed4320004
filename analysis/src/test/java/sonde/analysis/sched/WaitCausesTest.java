package sonde.analysis.sched;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackTable;

final class WaitCausesTest {
    private static final int FUTEX = 202;
    private static final int NANOSLEEP = 35;

    private static Map<String, Long> causes(Script script) throws IOException {
        WaitCauses causes = new WaitCauses(Set.of(FUTEX));
        ThreadTable threads = new ThreadTable(CountedThreads.everything());
        StackTable stacks = new StackTable(FrameSymbols.none());
        ThreadStates states = new ThreadStates(threads, stacks, TimeWindow.ALL, List.of(causes));
        Engine.run(script.recording(), List.of(threads, states));
        Map<String, Long> result = new TreeMap<>();
        causes.forEach((cause, nanos) ->
                result.put(
                        threads.tid(cause.thread())
                                + " by "
                                + threads.tid(cause.holder())
                                + " "
                                + cause.state()
                                + " "
                                + cause.holderCall(),
                        nanos));
        return result;
    }

    @Test
    void aWaitBehindAnotherWaitForTheLockGoesToWhoSlept() throws IOException {
        Script script = new Script();
        script.enter(800, 0, 7, NANOSLEEP).switched(900, 0, 7, 1, 0);
        script.enter(990, 1, 8, FUTEX).switched(1000, 1, 8, 1, 0);
        script.enter(1090, 2, 9, FUTEX).switched(1100, 2, 9, 1, 0);
        script.wake(1890, 0, 0, 7).switched(1895, 0, 0, 0, 7);
        script.wake(1900, 0, 7, 9).switched(1910, 2, 0, 0, 9);
        script.wake(2000, 2, 9, 8).switched(2010, 1, 0, 0, 8);
        Map<String, Long> causes = causes(script);
        assertThat(causes)
                .containsEntry("8 by 7 SLEEPING 35", 790L)
                .containsEntry("8 by 9 RUNNING -1", 190L)
                .doesNotContainKey("8 by 9 SLEEPING 202");
        assertThat(
                        causes.entrySet().stream()
                                .filter(cause -> cause.getKey().startsWith("8 "))
                                .mapToLong(Map.Entry::getValue)
                                .sum())
                .isEqualTo(1000);
    }

    @Test
    void beforeWhatIsRememberedNothingIsSaid() throws IOException {
        Script script = new Script();
        script.enter(990, 1, 8, FUTEX).switched(1000, 1, 8, 1, 0);
        long time = 1010;
        for (int nap = 0; nap < 100; nap++) {
            script.enter(time, 0, 7, NANOSLEEP).switched(time + 1, 0, 7, 1, 0);
            script.wake(time + 9, 0, 0, 7).switched(time + 9, 0, 0, 0, 7);
            script.exit(time + 9, 0, 7, NANOSLEEP, 0);
            time += 10;
        }
        script.wake(time, 0, 7, 8).switched(time + 1, 1, 0, 0, 8);
        Map<String, Long> causes = causes(script);
        assertThat(causes.get("8 by 7 SLEEPING 35")).isLessThan(640L).isGreaterThan(300L);
        long said = causes.values().stream().mapToLong(Long::longValue).sum();
        assertThat(said).isLessThan(700L);
    }
}
