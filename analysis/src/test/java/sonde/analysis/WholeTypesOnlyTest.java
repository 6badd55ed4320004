package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.event.EventType;

final class WholeTypesOnlyTest {
    @Test
    void eventsOfWhichThereIsAPartAreNotShown() {
        Script script = new Script();
        EventCounts counts = new EventCounts();
        int[] all = counts.select(script.ftrace);
        int[] whole =
                new WholeTypesOnly(counts, type -> type.system().equals("sched"))
                        .select(script.ftrace);
        for (EventType type : script.ftrace.types()) {
            boolean partial = type.system().equals("sched");
            assertThat(whole[type.id()]).isEqualTo(partial ? 0 : all[type.id()]);
        }
        assertThat(counts.select(script.ftrace)).isEqualTo(all).doesNotContain(0);
    }
}
