package sonde.sys;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.SAME_THREAD)
class ProcessesTest {
    private static String status(String key) throws Exception {
        return java.nio.file.Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                .filter(line -> line.startsWith(key + ":"))
                .findFirst()
                .orElseThrow()
                .substring(key.length() + 1)
                .strip();
    }

    @Test
    void idsAreThoseOfProc() throws Exception {
        assertThat(Processes.getpid()).isEqualTo((int) ProcessHandle.current().pid());
        assertThat(String.valueOf(Processes.gettid())).isEqualTo(status("Pid"));
        String[] uids = status("Uid").split("\t");
        assertThat(uids[0]).isEqualTo(String.valueOf(Processes.getuid()));
        assertThat(uids[1]).isEqualTo(String.valueOf(Processes.geteuid()));
        String[] gids = status("Gid").split("\t");
        assertThat(gids[0]).isEqualTo(String.valueOf(Processes.getgid()));
        assertThat(gids[1]).isEqualTo(String.valueOf(Processes.getegid()));
    }

    @Test
    void limitsAreThoseOfProc() throws Exception {
        Limit files = Processes.limit(0, Limit.RLIMIT_NOFILE);
        String line =
                java.nio.file.Files.readAllLines(Path.of("/proc/self/limits")).stream()
                        .filter(l -> l.startsWith("Max open files"))
                        .findFirst()
                        .orElseThrow();
        assertThat(line.split(" +")).contains("" + files.soft(), "" + files.hard());
        Limit core = Processes.limit(0, Limit.RLIMIT_CORE);
        try {
            Processes.limit(0, Limit.RLIMIT_CORE, new Limit(0, core.hard()));
            assertThat(Processes.limit(0, Limit.RLIMIT_CORE)).isEqualTo(new Limit(0, core.hard()));
        } finally {
            Processes.limit(0, Limit.RLIMIT_CORE, core);
        }
    }

    @Test
    void affinityIsThatOfProc() throws Exception {
        BitSet before = Processes.affinity(0);
        assertThat(before).isEqualTo(Machine.parseCpus(status("Cpus_allowed_list")));
        BitSet one = new BitSet();
        one.set(before.nextSetBit(0));
        try {
            Processes.affinity(0, one);
            assertThat(Machine.parseCpus(status("Cpus_allowed_list"))).isEqualTo(one);
        } finally {
            Processes.affinity(0, before);
        }
    }

    @Test
    void niceIsThatOfProc() throws Exception {
        Thread thread =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                Processes.nice(0, Processes.nice(0) + 3);
                            } catch (SyscallException e) {
                                throw new AssertionError(e);
                            }
                        });
        thread.join();
        String stat =
                new String(Files.readAll("/proc/thread-self/stat", 4096), StandardCharsets.UTF_8);
        String nice = stat.substring(stat.lastIndexOf(')') + 2).split(" ")[16];
        assertThat(String.valueOf(Processes.nice(0))).isEqualTo(nice);
    }

    @Test
    void waitingForNoChildIsAnError() {
        FilesTest.assertErrno(Errno.ECHILD, () -> Processes.wait4(Processes.getpid(), 0));
        FilesTest.assertErrno(Errno.ESRCH, () -> Processes.kill(0x7ffffffe, 0));
    }

    @Test
    void decodesWaitStatusWords() {
        Rusage none = new Rusage(0, 0, 0, 0, 0, 0, 0, 0, 0);
        assertThat(new WaitStatus(1, 3 << 8, none).shellCode()).isEqualTo(3);
        WaitStatus segv = new WaitStatus(1, 0x80 | 11, none);
        assertThat(segv.shellCode()).isEqualTo(139);
        assertThat(segv.dumpedCore()).isTrue();
        assertThat(segv.exited()).isFalse();
        WaitStatus stop = new WaitStatus(1, 0x7f | 19 << 8, none);
        assertThat(stop.stopped()).isTrue();
        assertThat(stop.signaled()).isFalse();
    }

    @Test
    void machineFactsAgreeWithTheJdkAndProc() throws Exception {
        assertThat(Machine.pageBytes()).isIn(4096, 16384, 65536);
        assertThat(Machine.onlineCpus().cardinality())
                .isGreaterThanOrEqualTo(Runtime.getRuntime().availableProcessors());
        assertThat(Machine.uname().release())
                .isEqualTo(
                        java.nio.file.Files.readString(Path.of("/proc/sys/kernel/osrelease"))
                                .strip());
        String total = java.nio.file.Files.readAllLines(Path.of("/proc/meminfo")).getFirst();
        assertThat(Machine.ramBytes() / 1024)
                .isEqualTo(Long.parseLong(total.replaceAll("[^0-9]", "")));
        assertThat(Machine.ticksPerSecond()).isEqualTo(100);
        assertThat(Machine.parseCpus("0-2,5\n").cardinality()).isEqualTo(4);
        assertThat(Clocks.nanos(Clocks.CLOCK_MONOTONIC))
                .isCloseTo(System.nanoTime(), org.assertj.core.data.Offset.offset(50_000_000L));
    }

    @Test
    void countsTheThreadsOwnPageFaultsThroughPerf() throws Exception {
        try (var arena = java.lang.foreign.Arena.ofConfined()) {
            // perf_event_attr: type 0 (1 = software), size 4, config 8 (2 = page faults).
            var attr = arena.allocate(136, 8);
            attr.set(java.lang.foreign.ValueLayout.JAVA_INT, 0, 1);
            attr.set(java.lang.foreign.ValueLayout.JAVA_INT, 4, 136);
            attr.set(java.lang.foreign.ValueLayout.JAVA_LONG, 8, 2);
            attr.set(java.lang.foreign.ValueLayout.JAVA_LONG, 40, 1 << 5 | 1 << 6);
            long fd = Perf.tryOpen(attr, 0, -1, -1, 0);
            org.junit.jupiter.api.Assumptions.assumeTrue(
                    fd >= 0, "perf_event_open: " + Errno.describe((int) -fd));
            var map =
                    Pages.map(
                            -1,
                            0,
                            64L * Machine.pageBytes(),
                            Pages.PROT_READ | Pages.PROT_WRITE,
                            Pages.MAP_PRIVATE | Pages.MAP_ANONYMOUS);
            for (int i = 0; i < 64; i++) {
                map.set(
                        java.lang.foreign.ValueLayout.JAVA_BYTE,
                        (long) i * Machine.pageBytes(),
                        (byte) 1);
            }
            var count = arena.allocate(8, 8);
            Fd.read((int) fd, count);
            assertThat(count.get(java.lang.foreign.ValueLayout.JAVA_LONG, 0)).isPositive();
            Pages.unmap(map);
            Fd.close((int) fd);
        }
    }
}
