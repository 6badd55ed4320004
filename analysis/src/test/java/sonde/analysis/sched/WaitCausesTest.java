package sonde.analysis.sched;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.analysis.sched.WaitCauses.WaitCause;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackTable;

final class WaitCausesTest {
    /** 10 waits in futex (202) from 1100 to 1500, when 12 wakes it, which slept until 1450. */
    @Test
    void whoEndedAWaitSleptMeanwhile() throws Exception {
        Script script =
                new Script()
                        .enter(1000, 1, 12, 35)
                        .switched(1050, 1, 12, 1, 0, Script.KERNEL, -8192)
                        .enter(1090, 0, 10, 202)
                        .switched(1100, 0, 10, 1, 0, Script.KERNEL, -4096)
                        .wake(1450, 0, 30, 12)
                        .switched(1460, 1, 0, 0, 12)
                        .wake(1500, 1, 12, 10)
                        .switched(1510, 0, 0, 0, 10);
        ThreadTable threads = new ThreadTable(CountedThreads.everything());
        WaitCauses causes = new WaitCauses(Set.of(202));
        StackTable stacks = new StackTable(FrameSymbols.none());
        ThreadStates states = new ThreadStates(threads, stacks, TimeWindow.ALL, List.of(causes));
        Engine.run(script.recording(), List.of(threads, states));
        Map<WaitCause, Long> slept = new HashMap<>();
        causes.forEach((cause, nanos) -> {
            if (cause.thread() == threads.find(10) && cause.state() == ThreadState.SLEEPING) {
                slept.put(cause, nanos);
            }
        });
        assertThat(slept).hasSize(1);
        WaitCause cause = slept.keySet().iterator().next();
        assertThat(cause.holder()).isEqualTo(threads.find(12));
        assertThat(cause.call()).isEqualTo(202);
        assertThat(cause.holderCall()).isEqualTo(35);
        assertThat(stacks.location(cause.holderStack())).isEqualTo(-8192);
        assertThat(slept.get(cause)).isEqualTo(350);
    }
}
