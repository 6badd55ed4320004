package sonde.sys;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MappedRangeTest {
    @Test
    void readsLinesAndLeavesOthersOut() {
        assertThat(
                        MappedRange.parse(
                                """
                                a1200000-a1201000 r-xp 00002000 fd:01 1234567   /u/a b (deleted)
                                7ffc1000-7ffd2000 rw-s 00000000 00:00 0\s
                                ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]
                                cut off
                                55d0a1200000-55d0a1201000 r-xp 000
                                x-1000 r-xp 00002000 fd:01 1 /z
                                """))
                .isEqualTo(
                        List.of(
                                new MappedRange(
                                        0xa1200000L,
                                        0xa1201000L,
                                        "r-xp",
                                        0x2000,
                                        0xfd,
                                        1,
                                        1234567,
                                        "/u/a b (deleted)"),
                                new MappedRange(0x7ffc1000L, 0x7ffd2000L, "rw-s", 0, 0, 0, 0, ""),
                                new MappedRange(
                                        0xffffffffff600000L,
                                        0xffffffffff601000L,
                                        "--xp",
                                        0,
                                        0,
                                        0,
                                        0,
                                        "[vsyscall]")));
    }

    @Test
    void ownCodeIsMapped() throws SyscallException {
        List<MappedRange> own = MappedRange.of(ProcessCalls.getpid());
        assertThat(own).anyMatch(one -> one.isExecutable() && one.path().endsWith("/libjvm.so"));
        assertThat(own).anyMatch(one -> one.path().equals("[stack]"));
    }
}
