package sonde.bpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.TracepointCounter.CounterTarget;

@Tag("kernel")
final class TracepointCounterKernelTest {
    /** dd of N blocks makes N reads and N writes of its own, and few others. */
    @Test
    void countsTheCallsOfATreeExactly() throws Exception {
        int blocks = 20_000;
        Process shell =
                new ProcessBuilder(
                                "sh",
                                "-c",
                                "read go; (dd if=/dev/zero of=/dev/null bs=1 count="
                                        + blocks
                                        + " 2>/dev/null); wait")
                        .start();
        Process other = new ProcessBuilder("dd", "if=/dev/zero", "of=/dev/null", "bs=1").start();
        try (TaskTree tree = TaskTree.open(Set.of((int) shell.pid()));
                TracepointCounter counter =
                        TracepointCounter.open(
                                List.of(
                                        new CounterTarget("syscalls", "sys_enter_write"),
                                        new CounterTarget("raw_syscalls", "sys_enter"),
                                        new CounterTarget("raw_syscalls", "sys_exit"),
                                        new CounterTarget("sched", "sched_process_exec"),
                                        new CounterTarget("sched", "sched_switch", "next_pid")),
                                tree)) {
            shell.outputWriter().append("\n").close();
            assertThat(shell.waitFor()).isZero();
            assertThat(counter.count("sys_enter_write")).isBetween(20_000L, 20_010L);
            assertThat(counter.count("sys_enter")).isBetween(40_000L, 41_000L);
            // Two exits without their enters (fork's children), two exits that never return.
            assertThat(counter.count("sys_exit") - counter.count("sys_enter")).isBetween(-4L, 4L);
            assertThat(counter.count("sched_process_exec")).isEqualTo(1);
            assertThat(counter.count("sched_switch")).isPositive();
            assertThat(counter.missed(1)).isZero();
            assertThat(tree.contains((int) shell.pid())).isFalse();
            assertThat(tree.missed()).isZero();
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    /** Threads of a process that is already running belong to it, and so do later ones. */
    @Test
    void runningProcessesAreFollowedWithAllThreads() throws Exception {
        int self = (int) ProcessHandle.current().pid();
        int threads = new java.io.File("/proc/self/task").list().length;
        try (TaskTree tree = TaskTree.open(Set.of(self))) {
            Path link = Path.of("/proc/thread-self");
            int[] tid = new int[1];
            Thread late =
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    tid[0] = last(Files.readSymbolicLink(link));
                                    assertThat(tree.contains(tid[0])).isTrue();
                                } catch (IOException e) {
                                    throw new java.io.UncheckedIOException(e);
                                }
                            });
            late.join();
            assertThat(tid[0]).isPositive();
            assertThat(threads).isGreaterThan(1);
            assertThat(tree.contains(last(Files.readSymbolicLink(link)))).isTrue();
            // The thread's end is a moment later than join.
            for (int i = 0; tree.contains(tid[0]) && i < 200; i++) {
                Thread.sleep(5);
            }
            assertThat(tree.contains(tid[0])).isFalse();
            assertThat(tree.contains(1)).isFalse();
        }
    }

    private static int last(Path path) {
        return Integer.parseInt(path.getFileName().toString());
    }
}
