package sonde.sys;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import sonde.sys.PosixSpawn.SpawnAction;
import sonde.sys.PosixSpawn.SpawnAction.SpawnClose;
import sonde.sys.PosixSpawn.SpawnAction.SpawnOpen;
import sonde.sys.PosixSpawn.SpawnRequest;

@Execution(ExecutionMode.SAME_THREAD)
class PosixSpawnTest {
    private static final int SIGUSR2 = 12;

    private static List<byte[]> words(String... words) {
        return Arrays.stream(words).map(w -> w.getBytes(StandardCharsets.UTF_8)).toList();
    }

    private static SpawnRequest sh(String script, SpawnAction... actions) {
        return new SpawnRequest(
                "/bin/sh".getBytes(StandardCharsets.UTF_8),
                words("sh", "-c", script),
                words("GREETING=hello"),
                ~0L,
                0,
                List.of(actions));
    }

    private static WaitStatus run(SpawnRequest request) throws SyscallException {
        return ProcessCalls.wait4(PosixSpawn.spawn(request), 0).orElseThrow();
    }

    @Test
    void passesWordsAndEnvironment() throws Exception {
        assertThat(run(sh("[ \"$GREETING\" = hello ] && exit 42")).exitCode()).isEqualTo(42);
        WaitStatus killed = run(sh("kill -KILL $$"));
        assertThat(killed.signal()).isEqualTo(9);
        assertThat(killed.shellCode()).isEqualTo(137);
        assertThat(killed.rusage().maxRssKib()).isPositive();
    }

    @Test
    void doesTheActionsInOrder(@TempDir Path folder) throws Exception {
        Path file = java.nio.file.Files.writeString(folder.resolve("in"), "7\n");
        byte[] path = file.toString().getBytes(StandardCharsets.UTF_8);
        int slot = Fd.eventfd(0, FileCalls.O_CLOEXEC);
        try {
            String script = "read n </dev/fd/" + slot + " && exit $n";
            var open = new SpawnOpen(slot, path, FileCalls.O_RDONLY);
            assertThat(run(sh(script, open)).exitCode()).isEqualTo(7);
            var close = new SpawnClose(slot);
            assertThat(run(sh(script, open, close)).exitCode()).isEqualTo(2);
        } finally {
            Fd.close(slot);
        }
    }

    @Test
    void setsTheDispositions() throws Exception {
        // SIGUSR2 is 12; dash keeps what was ignored when it started.
        String script =
                "while read -r k v; do [ $k = SigIgn: ] && exit $((0x$v >> 11 & 1)); done"
                        + " </proc/self/status";
        SignalDispositions.Disposition before = SignalDispositions.ignore(SIGUSR2);
        try {
            SpawnRequest all = sh(script);
            SpawnRequest others =
                    new SpawnRequest(
                            all.path(),
                            all.argv(),
                            all.environment(),
                            ~SignalDispositions.bit(SIGUSR2),
                            0,
                            List.of());
            assertThat(run(all).exitCode()).as("put to default").isZero();
            assertThat(run(others).exitCode()).as("stays ignored").isEqualTo(1);
        } finally {
            before.restore();
        }
        assertThat(run(sh(script)).exitCode()).isZero();
    }

    @Test
    void tellsWhyExecveFailed() {
        SpawnRequest request =
                new SpawnRequest(
                        "/etc/passwd".getBytes(StandardCharsets.UTF_8),
                        words("passwd"),
                        List.of(),
                        0,
                        0,
                        List.of());
        FileCallsTest.assertErrno(Errno.EACCES, () -> PosixSpawn.spawn(request));
        FileCallsTest.assertErrno(Errno.ECHILD, () -> ProcessCalls.wait4(-1, ProcessCalls.WNOHANG));
    }
}
