package sonde.probe.tracefs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.recording.ftrace.CpuStats;
import sonde.sys.SyscallException;

class InstanceNameTest {
    @Test
    void ownNameIsReadAgainAndNoLeftover() throws SyscallException {
        InstanceName own = InstanceName.ofThisProcess("task");
        assertThat(InstanceName.parse(own.toString())).contains(own);
        assertThat(own.isLeftover()).isFalse();
    }

    @Test
    void onlyDeadMakersOfThisBootAndNamespaceLeaveLeftovers() throws SyscallException {
        InstanceName own = InstanceName.ofThisProcess("task");
        assertThat(with(own.boot(), own.pidNamespace(), own.startTicks() + 1).isLeftover())
                .isTrue();
        assertThat(with("00000000", own.pidNamespace(), own.startTicks() + 1).isLeftover())
                .isFalse();
        assertThat(with(own.boot(), own.pidNamespace() + 1, own.startTicks() + 1).isLeftover())
                .isFalse();
    }

    @Test
    void foreignNamesAreNotOurs() {
        for (String name : new String[] {"sonde", "sonde-x", "trace-cmd", "sonde-1-2-3-4-task"}) {
            assertThat(InstanceName.parse(name)).isEmpty();
        }
    }

    @Test
    void statsAreRead() {
        String text =
                """
                entries: 5
                overrun: 1
                commit overrun: 2
                bytes: 99
                oldest event ts:  1547.85
                dropped events: 3
                read events: 4
                """;
        assertThat(CpuStats.parse(text)).isEqualTo(new CpuStats(5, 1, 2, 3, 4));
        assertThat(CpuStats.parse("entries: x\n:\n")).isEqualTo(new CpuStats(0, 0, 0, 0, 0));
    }

    private static InstanceName with(String boot, long namespace, long ticks)
            throws SyscallException {
        int pid = InstanceName.ofThisProcess("x").pid();
        return new InstanceName(boot, namespace, pid, ticks, "task");
    }
}
