package sonde.sys;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.SAME_THREAD)
class ProcessCallsTest {
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
        assertThat(ProcessCalls.getpid()).isEqualTo((int) ProcessHandle.current().pid());
        assertThat(String.valueOf(ProcessCalls.gettid())).isEqualTo(status("Pid"));
        String[] uids = status("Uid").split("\t");
        assertThat(uids[0]).isEqualTo(String.valueOf(ProcessCalls.getuid()));
        assertThat(uids[1]).isEqualTo(String.valueOf(ProcessCalls.geteuid()));
        String[] gids = status("Gid").split("\t");
        assertThat(gids[0]).isEqualTo(String.valueOf(ProcessCalls.getgid()));
        assertThat(gids[1]).isEqualTo(String.valueOf(ProcessCalls.getegid()));
    }

    @Test
    void limitsAreThoseOfProc() throws Exception {
        ResourceLimit files = ProcessCalls.limit(0, ResourceLimit.RLIMIT_NOFILE);
        String line =
                java.nio.file.Files.readAllLines(Path.of("/proc/self/limits")).stream()
                        .filter(l -> l.startsWith("Max open files"))
                        .findFirst()
                        .orElseThrow();
        assertThat(line.split(" +")).contains("" + files.soft(), "" + files.hard());
        ResourceLimit core = ProcessCalls.limit(0, ResourceLimit.RLIMIT_CORE);
        try {
            ProcessCalls.limit(0, ResourceLimit.RLIMIT_CORE, new ResourceLimit(0, core.hard()));
            assertThat(ProcessCalls.limit(0, ResourceLimit.RLIMIT_CORE))
                    .isEqualTo(new ResourceLimit(0, core.hard()));
        } finally {
            ProcessCalls.limit(0, ResourceLimit.RLIMIT_CORE, core);
        }
    }

    @Test
    void affinityIsThatOfProc() throws Exception {
        BitSet before = ProcessCalls.affinity(0);
        assertThat(before).isEqualTo(MachineFacts.parseCpus(status("Cpus_allowed_list")));
        BitSet one = new BitSet();
        one.set(before.nextSetBit(0));
        try {
            ProcessCalls.affinity(0, one);
            assertThat(MachineFacts.parseCpus(status("Cpus_allowed_list"))).isEqualTo(one);
        } finally {
            ProcessCalls.affinity(0, before);
        }
    }

    @Test
    void niceIsThatOfProc() throws Exception {
        Thread thread =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                ProcessCalls.nice(0, ProcessCalls.nice(0) + 3);
                            } catch (SyscallException e) {
                                throw new AssertionError(e);
                            }
                        });
        thread.join();
        String stat =
                new String(
                        FileCalls.readAll("/proc/thread-self/stat", 4096), StandardCharsets.UTF_8);
        String nice = stat.substring(stat.lastIndexOf(')') + 2).split(" ")[16];
        assertThat(String.valueOf(ProcessCalls.nice(0))).isEqualTo(nice);
    }

    @Test
    void waitingForNoChildIsAnError() {
        FileCallsTest.assertErrno(Errno.ECHILD, () -> ProcessCalls.wait4(ProcessCalls.getpid(), 0));
        FileCallsTest.assertErrno(Errno.ESRCH, () -> ProcessCalls.kill(0x7ffffffe, 0));
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
        assertThat(MachineFacts.pageBytes()).isIn(4096, 16384, 65536);
        assertThat(MachineFacts.onlineCpus().cardinality())
                .isGreaterThanOrEqualTo(Runtime.getRuntime().availableProcessors());
        assertThat(MachineFacts.uname().release())
                .isEqualTo(
                        java.nio.file.Files.readString(Path.of("/proc/sys/kernel/osrelease"))
                                .strip());
        String total = java.nio.file.Files.readAllLines(Path.of("/proc/meminfo")).getFirst();
        assertThat(MachineFacts.ramBytes() / 1024)
                .isEqualTo(Long.parseLong(total.replaceAll("[^0-9]", "")));
        assertThat(MachineFacts.ticksPerSecond()).isEqualTo(100);
        assertThat(MachineFacts.parseCpus("0-2,5\n").cardinality()).isEqualTo(4);
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
            long fd = PerfEventOpen.tryOpen(attr, 0, -1, -1, 0);
            org.junit.jupiter.api.Assumptions.assumeTrue(
                    fd >= 0, "perf_event_open: " + Errno.describe((int) -fd));
            var map =
                    MemoryMappings.map(
                            -1,
                            0,
                            64L * MachineFacts.pageBytes(),
                            MemoryMappings.PROT_READ | MemoryMappings.PROT_WRITE,
                            MemoryMappings.MAP_PRIVATE | MemoryMappings.MAP_ANONYMOUS);
            for (int i = 0; i < 64; i++) {
                map.set(
                        java.lang.foreign.ValueLayout.JAVA_BYTE,
                        (long) i * MachineFacts.pageBytes(),
                        (byte) 1);
            }
            var count = arena.allocate(8, 8);
            Fd.read((int) fd, count);
            assertThat(count.get(java.lang.foreign.ValueLayout.JAVA_LONG, 0)).isPositive();
            MemoryMappings.unmap(map);
            Fd.close((int) fd);
        }
    }
}
