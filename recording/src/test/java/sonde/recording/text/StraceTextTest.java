package sonde.recording.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.recording.text.Reading.Row;
import sonde.testkit.TraceTexts;

class StraceTextTest {
    private static final long SECOND = 1_795_213_887L * 1_000_000_000;

    @Test
    void callsAreABeginningAndAnEnd() throws Exception {
        Reading read = Reading.of(TraceTexts.STRACE);
        assertThat(read.events())
                .containsExactly(
                        "raw_syscalls:sys_enter",
                        "raw_syscalls:sys_exit",
                        "sched:sched_process_exec",
                        "raw_syscalls:sys_enter",
                        "raw_syscalls:sys_enter",
                        "raw_syscalls:sys_exit",
                        "raw_syscalls:sys_exit",
                        "sched:sched_process_fork",
                        "raw_syscalls:sys_enter",
                        "raw_syscalls:sys_enter",
                        "raw_syscalls:sys_exit",
                        "raw_syscalls:sys_exit",
                        "signal:signal_deliver",
                        "raw_syscalls:sys_enter",
                        "sched:sched_process_exit");
        Row exec = read.rows().get(0);
        assertThat(exec.time()).isEqualTo(SECOND + 442_298_000);
        assertThat(exec.fields())
                .containsEntry("name", "execve")
                .containsEntry(
                        "arguments",
                        "\"/usr/bin/sh\", [\"sh\", \"-c\", \"a) = 5\"], 0x7ffe /* 39 vars */");
        assertThat(read.rows().get(1).time()).isEqualTo(SECOND + 442_298_000 + 227_000);
        assertThat(read.rows().get(2).field("filename")).isEqualTo("/usr/bin/sh");
        assertThat(read.comms()).containsEntry(73, "sh");
        assertThat(read.notes()).isEmpty();
    }

    @Test
    void errorsAreNegativeNumbers() throws Exception {
        Reading read = Reading.of(TraceTexts.STRACE);
        Row access =
                read.rows().stream()
                        .filter(row -> "ENOENT".equals(row.field("error")))
                        .findFirst()
                        .orElseThrow();
        assertThat(access.field("ret")).isEqualTo(-2L);
        assertThat(access.field("duration")).isEqualTo(37_000L);
        String text =
                "1 1.0 read(0, 0x1, 2) = ? ERESTARTSYS (To be restarted)\n"
                        + "1 2.0 pause() = -1 EINTR (x)\n";
        assertThat(Reading.of(text).rows())
                .filteredOn(row -> row.event().endsWith("sys_exit"))
                .extracting(row -> row.field("ret"))
                .containsExactly(-512L, -4L);
    }

    @Test
    void aCallInTwoLinesEndsWhereItWasResumed() throws Exception {
        Reading read = Reading.of(TraceTexts.STRACE);
        Row begun = read.rows().get(8);
        Row ended = read.rows().get(11);
        assertThat(begun.tid()).isEqualTo(74);
        assertThat(begun.field("name")).isEqualTo("read");
        assertThat(ended.tid()).isEqualTo(74);
        assertThat(ended.field("ret")).isEqualTo(2L);
        assertThat(ended.time() - begun.time()).isEqualTo(1_031_000);
        assertThat(ended.field("id")).isEqualTo(begun.field("id"));
    }

    @Test
    void signalsAndEnds() throws Exception {
        Reading read = Reading.of(TraceTexts.STRACE);
        assertThat(read.rows().get(12).field("sig")).isEqualTo(17L);
        assertThat(read.rows().get(14).field("exit_code")).isEqualTo(256L);
        String text = "[pid 9] +++ killed by SIGKILL +++\n[pid 8] exit(0) = ?\n";
        assertThat(Reading.of(text).rows().get(0).field("exit_code")).isEqualTo(9L);
    }

    @Test
    void whatATerminalShows() throws Exception {
        Reading read = Reading.of(TraceTexts.STRACE_TERMINAL);
        Row opened = read.rows().get(1);
        assertThat(opened.field("ret")).isEqualTo(3L);
        // The first thread's number is known from later lines.
        assertThat(opened.tid()).isEqualTo(4);
        assertThat(read.events()).contains("sched:sched_process_fork");
        long midnight = 86_400_000_000_000L;
        assertThat(read.rows())
                .filteredOn(row -> row.tid() == 5)
                .extracting(Row::time)
                .containsExactly(midnight + 1000, midnight + 1000);
        assertThat(read.notes()).anyMatch(note -> note.contains("no durations"));
    }

    @Test
    void linesWithoutTimesAreAsFarApartAsTheCallsLasted() throws Exception {
        String text = "getpid() = 5 <0.000010>\ngetppid() = 4 <0.000020>\n";
        assertThat(Reading.of(text).rows())
                .extracting(Row::time)
                .containsExactly(0L, 10_000L, 10_000L, 30_000L);
        String relative = "     0.000000 getpid() = 5\n     0.000262 getppid() = 4\n";
        assertThat(Reading.of(relative).rows().get(2).time()).isEqualTo(262_000L);
    }

    @Test
    void stacksBelowACall() throws Exception {
        String text =
                "brk(NULL)                               = 0x55d70b7f0000\n"
                        + " > /usr/lib/ld.so(_dl_x+0x77c7) [0x1fc47]\n"
                        + " > /usr/bin/true(main+0x1) [0x2]\n";
        Reading read = Reading.of(text);
        assertThat(read.rows()).hasSize(2);
        assertThat(read.rows().get(0).chain()).containsExactly("_dl_x", "main");
    }

    @Test
    void callsThatNoTableHasGetNumbersOfTheirOwn() throws Exception {
        String text = "my_new_call(1) = 0\nother_call(1) = 0\nmy_new_call(2) = 0\n";
        assertThat(Reading.of(text).rows())
                .filteredOn(row -> row.event().endsWith("sys_enter"))
                .extracting(row -> row.field("id"))
                .containsExactly(512L, 513L, 512L);
    }
}
