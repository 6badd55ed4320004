package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.testkit.StuckProgram;

/** Recordings of processes in which nothing happens, through the whole product. */
@Tag("kernel")
final class ThreadsNowKernelTest {
    @TempDir Path folder;

    @BeforeEach
    void onlyAsRootWithACompiler() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "no gcc");
    }

    private String sonde(String... words) throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).run(words);
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out();
    }

    private void record(StuckProgram stuck) throws Exception {
        String pid = Integer.toString(stuck.pid());
        sonde("record", "--no-summary", "-p", pid, "--duration", "100ms", "-o", "r");
    }

    private static String line(String text, String word) {
        return text.lines().filter(line -> line.contains(word)).findFirst().orElse("no " + word);
    }

    /** Nothing runs: all that is known was looked at. Text, JSON and SQL say the same. */
    @Test
    void aLockedThreadSaysWhoHoldsTheLockInEveryView() throws Exception {
        try (StuckProgram stuck = StuckProgram.start(folder, "mutex")) {
            record(stuck);
            String text = sonde("report", "r.sonde", "--threads-now");
            assertThat(line(text, "stuck " + stuck.pid()))
                    .containsPattern("sleeping +[0-9.]+ m?s +futex\\(0x\\w+, FUTEX_WAIT, 2\\)")
                    .containsPattern(
                            "lock (?:0x\\w+|first) held by holder \\d+ \\(in .*hang.* → pause\\)")
                    .contains("main → pthread_mutex_lock");
            assertThat(text).contains("› hold_first").contains("› futex_wait");
            String summary = sonde("report", "r.sonde");
            assertThat(summary).contains("held by holder").doesNotContain("nobody knows");
            String rows =
                    sonde(
                            "query",
                            "r.sonde",
                            "--format",
                            "csv",
                            "SELECT t.tid, h.comm FROM \"sonde.thread_now\" t JOIN"
                                    + " \"sonde.thread_now\" h ON h.tid = t.holder AND h.at_end = 1"
                                    + " WHERE t.at_end = 1");
            assertThat(rows.lines()).containsExactly("tid,comm", stuck.pid() + ",holder");
            assertThat(sonde("report", "r.sonde", "--threads-now", "--json"))
                    .contains("held by holder");
        }
    }

    @Test
    void aDeadlockIsCalledSo() throws Exception {
        try (StuckProgram stuck = StuckProgram.start(folder, "deadlock")) {
            record(stuck);
            assertThat(line(sonde("report", "r.sonde", "--threads-now"), "Deadlock"))
                    .contains("held by stuck")
                    .contains("held by back")
                    .contains("transfer_back → pthread_mutex_lock");
        }
    }

    /** perf reads the looks as samples of a tracepoint. */
    @Test
    void perfReadsThem() throws Exception {
        Path perf = Path.of("/usr/bin/perf");
        assumeTrue(Files.isExecutable(perf), "no perf");
        try (StuckProgram stuck = StuckProgram.start(folder, "pipe")) {
            record(stuck);
            Process script =
                    new ProcessBuilder(perf.toString(), "script", "-i", "r.sonde/perf.data")
                            .directory(folder.toFile())
                            .redirectErrorStream(true)
                            .start();
            String said = new String(script.getInputStream().readAllBytes());
            assertThat(script.waitFor()).isZero();
            assertThat(line(said, "comm=stuck"))
                    .contains("sonde:thread_now")
                    .containsPattern("object=pipe from slowwriter \\d+");
            assertThat(said).contains("read_answer+").contains("anon_pipe_read");
        }
    }

    @Test
    void aThreadThatRunsSaysWhere() throws Exception {
        try (StuckProgram stuck = StuckProgram.start(folder, "spin")) {
            sonde("record", "-p", stuck.pid() + "", "--duration", "500ms", "-o", "r");
            assertThat(line(sonde("report", "r.sonde", "--threads-now"), "stuck " + stuck.pid()))
                    .contains("running")
                    .contains("crunch");
        }
    }
}
