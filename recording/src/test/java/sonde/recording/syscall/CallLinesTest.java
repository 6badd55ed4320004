package sonde.recording.syscall;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.recording.syscall.CallRecord.AGAIN;
import static sonde.recording.syscall.CallRecord.END;
import static sonde.recording.syscall.CallRecord.ENTER;
import static sonde.recording.syscall.CallRecord.EXEC;
import static sonde.recording.syscall.CallRecord.EXIT;
import static sonde.recording.syscall.CallRecord.FAILED;
import static sonde.recording.syscall.CallRecord.SENT;
import static sonde.recording.syscall.CallRecord.SIGNAL;

import java.io.IOException;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.recording.syscall.CaptureOp.PlanStyle;
import sonde.recording.syscall.LineStyle.CallStatus;
import sonde.recording.syscall.LineStyle.ClockForm;
import sonde.recording.syscall.LineStyle.LineFilter;
import sonde.recording.syscall.LineStyle.PidForm;
import sonde.recording.syscall.LineStyle.TimeStyle;

/** Lines of records; each case of pairing begins and end was seen on a real kernel. */
final class CallLinesTest {
    private static final int READ = 0;
    private static final int RT_SIGRETURN = 15;
    private static final int CLONE = 56;
    private static final int EXECVE = 59;
    private static final int WAIT4 = 61;
    private static final int GETUID = 102;
    private static final int FUTEX = 202;
    private static final int EXIT_GROUP = 231;
    private static final int OPENAT = 257;

    private final StringBuilder text = new StringBuilder();
    private CallLines lines = lines(PidForm.PLAIN, TimeStyle.NONE, Set.of(), CallStyle.DEFAULT);

    private CallLines lines(
            PidForm pid, TimeStyle time, Set<CallStatus> statuses, CallStyle calls) {
        BitSet all = new BitSet();
        all.set(0, CallTable.CALLS + 1);
        LineFilter filter = new LineFilter(all, all, statuses, Set.of(), null, 0, true, true);
        LineStyle style = new LineStyle(pid, time, false, false, filter);
        return new CallLines(new CallText(CallTable.read(), calls), calls, style, text::append, 0);
    }

    private void give(CallRecordBytes... records) throws IOException {
        for (CallRecordBytes one : records) {
            lines.accept(one.record());
        }
    }

    private static CallRecordBytes record(int kind, int tid, long number, long result, long... a) {
        return new CallRecordBytes(kind, tid, 0, number, result, a);
    }

    @Test
    void aCallIsOneLine() throws IOException {
        give(
                record(ENTER, 5, OPENAT, 0, -100, 0x1000, 0x80000).text(1, "/etc/passwd\0"),
                record(EXIT, 5, OPENAT, 3, -100, 0x1000, 0x80000),
                record(ENTER, 5, READ, 0, 3, 0x2000, 4096),
                record(EXIT, 5, READ, 5, 3, 0x2000, 4096).text(1, "a\"\n\u00011"),
                record(ENTER, 5, READ, 0, 3, 0x2000, 4096),
                record(EXIT, 5, READ, -9, 3, 0x2000, 4096));
        assertThat(text.toString().lines())
                .containsExactly(
                        "5     openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3",
                        "5     read(3, \"a\\\"\\n\\0011\", 4096)       = 5",
                        "5     read(3, 0x2000, 4096)             = -1 EBADF (Bad file descriptor)");
    }

    @Test
    void anotherThreadInterruptsALine() throws IOException {
        give(
                record(ENTER, 5, WAIT4, 0, -1, 0x1000, 0, 0),
                record(ENTER, 6, EXIT_GROUP, 0, 7),
                record(END, 6, 7 << 8, 0),
                record(SENT, 5, 17, 1)
                        .hex(
                                0,
                                "11000000 00000000 01000000 00000000 06000000 00000000 07000000"
                                        + "00000000 00000000 00000000 00000000 00000000"),
                record(EXIT, 5, WAIT4, 6, -1, 0x1000, 0, 0).hex(1, "00070000"));
        assertThat(text.toString().lines())
                .containsExactly(
                        "5     wait4(-1,  <unfinished ...>",
                        "6     exit_group(7)                     = ?",
                        "6     +++ exited with 7 +++",
                        "5     <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 7}], 0, NULL)"
                                + " = 6",
                        "5     --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=6,"
                                + " si_uid=0, si_status=7, si_utime=0, si_stime=0} ---");
    }

    @Test
    void theEndOfSigreturnHasNoNumber() throws IOException {
        give(
                record(ENTER, 5, RT_SIGRETURN, 0).piece(6, 0, 0, new byte[8]),
                record(EXIT, 5, -1, -4));
        assertThat(text.toString())
                .isEqualTo(
                        "5     rt_sigreturn({mask=[]})           = -1 EINTR (Interrupted system"
                                + " call)\n");
    }

    @Test
    void endsWithoutBegin() throws IOException {
        give(
                record(EXIT, 6, CLONE, 0, 17), // the child's side
                record(EXIT, 5, GETUID, -77)); // refused by the program's own filter
        assertThat(text.toString())
                .isEqualTo(
                        "5     getuid()                          = -1 EBADFD (File descriptor in bad"
                                + " state)\n");
    }

    @Test
    void aThreadThatDiesInACall() throws IOException {
        give(
                record(ENTER, 5, READ, 0, 0, 0x1000, 10),
                record(ENTER, 6, FUTEX, 0, 0x2000, 128, 2, 0),
                record(END, 6, 9, 0),
                record(END, 5, 0x80 | 11, 0));
        assertThat(text.toString().lines())
                .containsExactly(
                        "5     read(0,  <unfinished ...>",
                        "6     futex(0x2000, FUTEX_WAIT_PRIVATE, 2, NULL) = ?",
                        "6     +++ killed by SIGKILL +++",
                        "5     <... read resumed> <unfinished ...>) = ?",
                        "5     +++ killed by SIGSEGV (core dumped) +++");
    }

    @Test
    void aSignalThatEndsTheProcessIsNotDelivered() throws IOException {
        give(
                record(SENT, 5, 15, 0)
                        .hex(
                                0,
                                "0f000000 00000000 00000000 00000000 01000000 e8030000"
                                        + "00000000 00000000 00000000 00000000 00000000 00000000"),
                record(SIGNAL, 5, 9, 0),
                record(END, 5, 15, 0));
        assertThat(text.toString().lines())
                .containsExactly(
                        "5     --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1,"
                                + " si_uid=1000} ---",
                        "5     +++ killed by SIGTERM +++");
    }

    @Test
    void anExecOfAnotherThread() throws IOException {
        give(
                record(ENTER, 5, FUTEX, 0, 0x2000, 128, 2, 0),
                record(ENTER, 7, EXECVE, 0, 0x1000, 0, 0).text(0, "/bin/true\0"),
                record(EXEC, 5, 0, 7),
                record(EXIT, 5, EXECVE, 0));
        assertThat(text.toString().lines())
                .endsWith(
                        "5     +++ superseded by execve in pid 7 +++",
                        "5     <... execve resumed>)             = 0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-512|? ERESTARTSYS (To be restarted if SA_RESTART is set)",
                "-514|? ERESTARTNOHAND (To be restarted if no handler)",
                "-516|? ERESTART_RESTARTBLOCK (Interrupted by signal)"
            })
    void callsThatSignalsInterrupt(long result, String shown) throws IOException {
        give(
                record(ENTER, 5, READ, 0, 0, 0x1000, 10),
                record(EXIT, 5, READ, result, 0, 0x1000, 10),
                record(SIGNAL, 5, 15, 0)
                        .hex(
                                0,
                                "0f000000 00000000 00000000 00000000 01000000 e8030000"
                                        + "00000000 00000000 00000000 00000000 00000000 00000000"));
        assertThat(text.toString().lines())
                .containsExactly(
                        "5     read(0, 0x1000, 10)               = " + shown,
                        "5     --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1,"
                                + " si_uid=1000} ---");
    }

    @Test
    void memoryThatWasReadAtTheEnd() throws IOException {
        give(
                record(ENTER, 5, OPENAT, 0, -100, 0x1000, 0).piece(1, 0, FAILED),
                record(EXIT, 5, OPENAT, 3, -100, 0x1000, 0)
                        .piece(1, 0, AGAIN, (byte) '/', (byte) 0));
        assertThat(text.toString()).startsWith("5     openat(AT_FDCWD, \"/\", O_RDONLY) ");
    }

    @Test
    void callsOf32BitProgramsHaveOtherNumbers() throws IOException {
        byte[] writev = record(ENTER, 5, 20, 0).record().bytes();
        writev[CallRecord.FLAGS] = CallRecord.COMPAT;
        lines.accept(new CallRecord().at(writev, 0));
        assertThat(text.toString()).isEqualTo("5     i386_syscall_20(0, 0, 0, 0, 0, 0");
    }

    @Test
    void lossesAreSaidWhereTheyWere() throws IOException {
        give(
                record(ENTER, 5, READ, 0, 0, 0x1000, 10),
                record(ENTER, 5, GETUID, 0).lost(3),
                record(EXIT, 5, GETUID, 0).lost(3));
        assertThat(text.toString().lines())
                .containsExactly(
                        "5     read(0,  <unfinished ...>",
                        "*** 3 records were lost here",
                        "5     getuid()                          = 0");
    }

    @Test
    void onlyFailedCalls() throws IOException {
        TimeStyle since = new TimeStyle(ClockForm.NONE, 0, 6, -1);
        lines = lines(PidForm.NONE, since, EnumSet.of(CallStatus.FAILED), CallStyle.DEFAULT);
        give(
                record(ENTER, 5, READ, 0, 0, 0x1000, 10),
                record(EXIT, 5, READ, 1, 0, 0x1000, 10).text(1, "x"),
                record(ENTER, 5, READ, 0, 9, 0x1000, 10),
                record(EXIT, 5, READ, -9, 9, 0x1000, 10));
        assertThat(text.toString())
                .isEqualTo(
                        "     0.000000 read(9, 0x1000, 10)       = -1 EBADF (Bad file descriptor)\n");
    }

    @Test
    void everyLineOfTheTableHasACallOfX86() {
        CallTable table = CallTable.read();
        assertThat(table.numbers()).hasSizeGreaterThan(240);
        for (int number : table.numbers()) {
            CaptureOp.NumberPlan plan =
                    CaptureOp.plan(table, number, new PlanStyle(32, true, new BitSet()));
            assertThat(plan.plan().entry()).hasSizeLessThanOrEqualTo(CaptureOp.MOST);
            assertThat(plan.plan().exit()).hasSizeLessThanOrEqualTo(CaptureOp.MOST);
        }
    }

    @Test
    void damagedRecordsAreShownAsFarAsTheyGo() throws IOException {
        byte[] bytes =
                record(ENTER, 5, OPENAT, 0, -100, 0x1000, 0).text(1, "/etc\0").record().bytes();
        bytes[CallRecord.PIECES + 7] = 0x7f; // a length beyond the record
        lines.accept(new CallRecord().at(bytes, 0));
        assertThat(text.toString()).isEqualTo("5     openat(AT_FDCWD, 0x1000, O_RDONLY");
    }
}
