package sonde.probe.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.sys.Clocks;
import sonde.testkit.StuckProgram;

/** Real processes that hang in every way, looked at from outside. */
@Tag("kernel")
final class ThreadSnapshotKernelTest {
    @TempDir static Path folder;

    @BeforeAll
    static void compilerIsThere() {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "no gcc");
    }

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
    }

    private static ThreadNow main(int pid, List<ThreadNow> threads) {
        return threads.stream().filter(one -> one.tid() == pid).findFirst().orElseThrow();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    accept   | accept\\(fd \\d+\\)             | tcp 127\\.0\\.0\\.1:\\d+ \\(listening\\)
                    pipe     | read\\(fd \\d+\\)               | pipe from slowwriter \\d+
                    fullpipe | write\\(fd \\d+, 64\\)          | pipe to slowreader \\d+
                    flock    | flock\\(fd \\d+, 2\\)           | lock of file .*/for-flock
                    fcntl    | fcntl\\(fd \\d+, 7\\)           | lock of file .*/for-fcntl
                    mutex    | futex\\(0x\\w+, FUTEX_WAIT, 2\\) | lock 0x\\w+
                    pi       | futex\\(0x\\w+, FUTEX_LOCK_PI.* | lock 0x\\w+
                    rdlock   | futex\\(.*                      | lock 0x\\w+
                    wrlock   | futex\\(.*                      | lock 0x\\w+
                    cond     | futex\\(.*                      | futex 0x\\w+
                    sem      | futex\\(.*                      | futex 0x\\w+
                    epoll    | epoll_wait\\(fd \\d+, no timeout\\) | tcp .* → .* of backend \\d+
                    poll     | poll\\(1, 60000 ms\\)           | tcp 127.* → 127.0.0.1:\\d+
                    select   | p?select6?\\(\\d+\\)            | tcp 127.* → 127.0.0.1:\\d+
                    child    | wait4\\(-1\\)                   | child hangs \\d+
                    msg      | msgrcv\\(\\d+\\)                | message queue \\d+
                    semop    | sem(timed)?op\\(\\d+, 1\\)      | semaphore set \\d+
                    fifo     | openat\\(".*/for-fifo"\\)       | FIFO .*/for-fifo, nobody writes to it
                    unix     | recvfrom\\(fd \\d+\\)           | unix .*/for-unix of busdaemon \\d+
                    exec     | clock_nanosleep\\(1000.000 s\\) |
                    """)
    void aSleepingThreadSaysCallAndObject(String mode, String call, String object)
            throws Exception {
        try (StuckProgram stuck = StuckProgram.start(folder, mode);
                ThreadSnapshot snapshot = ThreadSnapshot.open(false)) {
            long before = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            ThreadNow main = main(stuck.pid(), snapshot.take(List.of(stuck.pid())));
            assertThat(main.call()).matches(call);
            assertThat(main.object()).matches(object == null ? "" : object);
            assertThat(main.state()).isEqualTo('S');
            assertThat(main.sinceNanos()).isBetween(before - 30_000_000_000L, before + 5_000_000);
            assertThat(main.kernelStack()).hasSizeGreaterThan(2).allMatch(at -> at < 0);
            assertThat(main.userStack()).hasSizeGreaterThan(2).allMatch(at -> at > 0);
            assertThat(snapshot.left()).isZero();
        }
    }

    /** The holder is the thread whose name says so, or the process. */
    @ParameterizedTest
    @CsvSource({
        "mutex, holder",
        "pi, holder",
        "rdlock, holder",
        "wrlock, holder",
        "flock, lockholder",
        "fcntl, lockholder",
        "pipe, slowwriter",
        "epoll, backend",
        "unix, busdaemon",
        "child, hangs"
    })
    void theHolderIsNamed(String mode, String holder) throws Exception {
        try (StuckProgram stuck = StuckProgram.start(folder, mode);
                ThreadSnapshot snapshot = ThreadSnapshot.open(false)) {
            ThreadNow main = main(stuck.pid(), snapshot.take(List.of(stuck.pid())));
            Path comm = Path.of("/proc/" + main.holder() + "/comm");
            assertThat(Files.readString(comm)).isEqualTo(holder + "\n");
        }
    }

    @Test
    void locksOfEachOtherNameEachOther() throws Exception {
        try (StuckProgram stuck = StuckProgram.start(folder, "deadlock");
                ThreadSnapshot snapshot = ThreadSnapshot.open(false)) {
            List<ThreadNow> threads = snapshot.take(List.of(stuck.pid()));
            assertThat(threads).hasSize(2);
            assertThat(threads.get(0).holder()).isEqualTo(threads.get(1).tid());
            assertThat(threads.get(1).holder()).isEqualTo(threads.get(0).tid());
        }
    }

    @Test
    void whatRunsOrIsStoppedHasNoObject() throws Exception {
        try (StuckProgram spins = StuckProgram.start(folder, "spin");
                StuckProgram stopped = StuckProgram.start(folder, "stop");
                ThreadSnapshot snapshot = ThreadSnapshot.open(false)) {
            List<ThreadNow> threads = snapshot.take(List.of(spins.pid(), stopped.pid()));
            assertThat(main(spins.pid(), threads).state()).isEqualTo('R');
            assertThat(main(spins.pid(), threads).object()).isEmpty();
            assertThat(main(stopped.pid(), threads).state()).isEqualTo('T');
            assertThat(main(stopped.pid(), threads).userStack()).isNotEmpty();
        }
    }

    /** A thread that never stops for more than a millisecond is not told to wait for long. */
    @Test
    void everybodyIsLookedAtInBoundedTime() throws Exception {
        try (ThreadSnapshot snapshot = ThreadSnapshot.open(true)) {
            List<Integer> pids;
            try (var all = Files.list(Path.of("/proc"))) {
                pids =
                        all.map(path -> path.getFileName().toString())
                                .filter(name -> name.matches("\\d+"))
                                .map(Integer::valueOf)
                                .toList();
            }
            List<ThreadNow> threads = snapshot.take(pids);
            assertThat(threads).isNotEmpty().noneMatch(one -> one.pid() == 2);
            assertThat(threads).allMatch(one -> one.sinceNanos() <= one.atNanos() + 50_000_000);
        }
    }
}
