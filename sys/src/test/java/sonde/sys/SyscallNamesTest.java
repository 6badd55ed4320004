package sonde.sys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.SAME_THREAD)
class SyscallNamesTest {
    @Test
    void namesCallsOfEitherArchitecture() {
        SyscallNames x86 = SyscallNames.of(Arch.X86_64);
        SyscallNames arm = SyscallNames.of(Arch.AARCH64);
        assertThat(x86.nameOf(0)).isEqualTo("read");
        assertThat(x86.nameOf(298)).isEqualTo("perf_event_open");
        assertThat(x86.nameOf(336)).isEqualTo("uprobe");
        assertThat(arm.nameOf(63)).isEqualTo("read");
        assertThat(arm.nameOf(241)).isEqualTo("perf_event_open");
        assertThat(arm.nameOf(222)).isEqualTo("mmap");
        assertThat(arm.numberOf("open")).isEqualTo(-1);
        assertThat(x86.numberOf("open")).isEqualTo(2);
        assertThat(x86.nameOf(469)).isEqualTo("file_setattr");
    }

    @Test
    void keepsUnknownNumbers() {
        assertThat(SyscallNames.name(-1)).isEqualTo("syscall -1");
        assertThat(SyscallNames.name(511)).isEqualTo("syscall 511");
        assertThat(SyscallNames.name(1L << 40)).isEqualTo("syscall 1099511627776");
    }

    @Test
    void everyNameFindsItsNumberAgain() {
        for (Arch arch : Arch.values()) {
            SyscallNames calls = SyscallNames.of(arch);
            int named = 0;
            for (int number = 0; number < 512; number++) {
                String name = calls.nameOf(number);
                if (!name.startsWith("syscall ")) {
                    assertThat(calls.numberOf(name)).isEqualTo(number);
                    named++;
                }
            }
            assertThat(named).isGreaterThan(300);
        }
    }

    @Test
    void refusesAnUnknownName() {
        assertThatThrownBy(() -> SyscallNames.number("no_such_call"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no_such_call");
    }
}
