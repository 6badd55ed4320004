package sonde.bpf;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class TracepointFormatTest {
    @Test
    void readsTheFormatsOfOldAndNewKernels() {
        String old =
                """
                name: sched_process_fork
                ID: 311
                format:
                \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;

                \tfield:char parent_comm[16];\toffset:8;\tsize:16;\tsigned:0;
                \tfield:pid_t parent_pid;\toffset:24;\tsize:4;\tsigned:1;
                \tfield:__data_loc char[] filename;\toffset:28;\tsize:4;\tsigned:0;

                print fmt: "offset:1; pid=%d", REC->parent_pid
                """;
        TracepointFormat fork =
                TracepointFormat.parse("sched", "sched_process_fork", old.getBytes(UTF_8));
        assertThat(fork).isNotNull();
        assertThat(fork.id()).isEqualTo(311);
        assertThat(fork.offsets())
                .containsOnly(
                        java.util.Map.entry("common_type", 0),
                        java.util.Map.entry("parent_comm", 8),
                        java.util.Map.entry("parent_pid", 24),
                        java.util.Map.entry("filename", 28));
    }

    @Test
    void aFileWithoutNumberIsNoTracepoint() {
        assertThat(TracepointFormat.parse("a", "b", "rubbish\nID: x\n".getBytes(UTF_8))).isNull();
    }
}
