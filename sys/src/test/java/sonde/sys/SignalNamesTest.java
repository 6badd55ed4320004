package sonde.sys;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.SAME_THREAD)
final class SignalNamesTest {
    @Test
    void numbersHaveTheNamesOfKillDashL() {
        assertThat(SignalNames.of(1)).isEqualTo("SIGHUP");
        assertThat(SignalNames.of(ProcessCalls.SIGTERM)).isEqualTo("SIGTERM");
        assertThat(SignalNames.of(ProcessCalls.SIGCHLD)).isEqualTo("SIGCHLD");
        assertThat(SignalNames.of(31)).isEqualTo("SIGSYS");
        assertThat(SignalNames.of(34)).isEqualTo("SIGRTMIN");
        assertThat(SignalNames.of(64)).isEqualTo("SIGRTMIN+30");
    }

    @Test
    void numbersWithoutNameStayNumbers() {
        assertThat(SignalNames.of(0)).isEqualTo("0");
        assertThat(SignalNames.of(32)).isEqualTo("32");
        assertThat(SignalNames.of(65)).isEqualTo("65");
        assertThat(SignalNames.of(-1)).isEqualTo("-1");
    }
}
