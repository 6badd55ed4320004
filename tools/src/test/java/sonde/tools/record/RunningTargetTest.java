package sonde.tools.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What can be named with -p and what cannot. */
class RunningTargetTest {
    private static final int OWN = (int) ProcessHandle.current().pid();

    @Test
    void aProcessThatRuns() throws Exception {
        Process sleeper = new ProcessBuilder("sleep", "30").start();
        try {
            int pid = (int) sleeper.pid();
            assertThatCode(() -> RunningTarget.check(pid)).doesNotThrowAnyException();
            assertThat(RunningTarget.lives(pid)).isTrue();
            sleeper.destroyForcibly().waitFor();
            assertThat(RunningTarget.lives(pid)).isFalse();
            assertThatThrownBy(() -> RunningTarget.check(pid))
                    .hasMessageContaining("no process has the number " + pid);
        } finally {
            sleeper.destroyForcibly();
        }
    }

    @Test
    void aNumberOfNobody() {
        assertThatThrownBy(() -> RunningTarget.check(99_999_999))
                .hasMessageContaining("no process has the number 99999999");
    }

    @Test
    void aThread() throws Exception {
        int thread;
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            thread =
                    threads.map(path -> Integer.parseInt(path.getFileName().toString()))
                            .filter(tid -> tid != OWN)
                            .findFirst()
                            .orElseThrow();
        }
        assertThatThrownBy(() -> RunningTarget.check(thread))
                .hasMessage(thread + " is a thread of process " + OWN + "; record that: -p " + OWN);
    }

    @Test
    void aZombie() throws Exception {
        Process parent = new ProcessBuilder("sh", "-c", "sleep 0 & echo $!; exec sleep 30").start();
        try {
            int zombie = Integer.parseInt(parent.inputReader().readLine());
            while (RunningTarget.lives(zombie)) {
                Thread.sleep(5);
            }
            assertThatThrownBy(() -> RunningTarget.check(zombie))
                    .hasMessageContaining("process " + zombie + " has ended")
                    .hasMessageContaining("its parent " + parent.pid());
        } finally {
            parent.destroyForcibly();
        }
    }

    @Test
    void thisProcess() {
        assertThatThrownBy(() -> RunningTarget.check(OWN)).hasMessageContaining("is this sonde");
    }
}
