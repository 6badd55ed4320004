package sonde.analysis.sched;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.analysis.sched.SwitchStates.Reported;
import sonde.event.EventType;

final class SwitchStatesTest {
    private static SwitchStates ftrace(String printFormat) {
        return SwitchStates.of(new EventType(0, "sched", "sched_switch", List.of(), printFormat));
    }

    /** Linux 3.4: 1024 is TASK_STATE_MAX, which says that the thread was preempted. */
    @Test
    void before414TheLettersOfTheFileDecide() {
        SwitchStates states =
                ftrace(
                        "\"prev_state=%s%s\", REC->prev_state & (1024-1) ? __print_flags("
                                + "REC->prev_state & (1024-1), \"|\", { 1, \"S\"} , { 2, \"D\" },"
                                + " { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" },"
                                + " { 64, \"x\" }, { 128, \"K\" }, { 256, \"W\" }) : \"R\","
                                + " REC->prev_state & 1024 ? \"+\" : \"\"");
        assertThat(states.of(0)).isEqualTo(Reported.RUNNABLE);
        assertThat(states.of(1024)).isEqualTo(Reported.RUNNABLE);
        assertThat(states.of(1)).isEqualTo(Reported.SLEEPING);
        assertThat(states.of(2)).isEqualTo(Reported.BLOCKED);
        assertThat(states.of(128 | 2)).isEqualTo(Reported.BLOCKED);
        assertThat(states.of(128 | 1)).isEqualTo(Reported.SLEEPING);
        assertThat(states.of(8)).isEqualTo(Reported.STOPPED);
        assertThat(states.of(16)).isEqualTo(Reported.DEAD);
        assertThat(states.of(64)).isEqualTo(Reported.DEAD);
    }

    private static final String SINCE_4_14 =
            "__print_flags(REC->prev_state & 255, \"|\", { 0x0001, \"S\" }, { 0x0002, \"D\" },"
                    + " { 0x0004, \"T\" }, { 0x0008, \"t\" }, { 0x0010, \"X\" },"
                    + " { 0x0020, \"Z\" }, { 0x0040, \"P\" }, { 0x0080, \"I\" }) : \"R\", ";

    @Test
    void since414IdleAndParkedThreadsSleep() {
        SwitchStates states = ftrace(SINCE_4_14 + "REC->prev_state & 256 ? \"+\" : \"\"");
        assertThat(states.of(0x40)).isEqualTo(Reported.SLEEPING);
        assertThat(states.of(0x80)).isEqualTo(Reported.SLEEPING);
        assertThat(states.of(0x100)).isEqualTo(Reported.RUNNABLE);
        assertThat(states.of(0x10)).isEqualTo(Reported.DEAD);
        assertThat(states.of(0x20)).isEqualTo(Reported.DEAD);
        assertThat(states.of(8)).isEqualTo(Reported.STOPPED);
    }

    /** 4.14.0 wrote the index of the state; 8 is idle there, which it printed as t. */
    @Test
    void inTheFirst414StatesAreNumbered() {
        SwitchStates states = ftrace(SINCE_4_14 + "REC->prev_state & 4096 ? \"+\" : \"\"");
        assertThat(states.of(8)).isEqualTo(Reported.SLEEPING);
        assertThat(states.of(3)).isEqualTo(Reported.STOPPED);
        assertThat(states.of(2)).isEqualTo(Reported.BLOCKED);
        assertThat(states.of(6)).isEqualTo(Reported.DEAD);
        assertThat(states.of(0)).isEqualTo(Reported.RUNNABLE);
    }

    @Test
    void lttngWritesTheSchedulersOwnBits() {
        SwitchStates states =
                SwitchStates.of(new EventType(0, "kernel", "sched_switch", List.of(), ""));
        assertThat(states.of(0x402)).isEqualTo(Reported.SLEEPING); // TASK_IDLE
        assertThat(states.of(0x102)).isEqualTo(Reported.BLOCKED); // TASK_KILLABLE since 4.14
        assertThat(states.of(0x82)).isEqualTo(Reported.BLOCKED); // TASK_KILLABLE before
        assertThat(states.of(0x80)).isEqualTo(Reported.DEAD);
        assertThat(states.of(64)).isEqualTo(Reported.DEAD);
        assertThat(states.of(1)).isEqualTo(Reported.SLEEPING);
    }
}
