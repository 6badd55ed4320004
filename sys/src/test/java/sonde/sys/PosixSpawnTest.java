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

@Execution(ExecutionMode.SAME_THREAD)
class PosixSpawnTest {
    private static final int SIGUSR2 = 12;

    private static List<byte[]> words(String... words) {
        return Arrays.stream(words).map(w -> w.getBytes(StandardCharsets.UTF_8)).toList();
    }

    private static PosixSpawn.Request sh(String script, PosixSpawn.Action... actions) {
        return new PosixSpawn.Request(
                "/bin/sh".getBytes(StandardCharsets.UTF_8),
                words("sh", "-c", script),
                words("GREETING=hello"),
                ~0L,
                0,
                List.of(actions));
    }

    private static WaitStatus run(PosixSpawn.Request request) throws SyscallException {
        return Processes.wait4(PosixSpawn.spawn(request), 0).orElseThrow();
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
        int slot = Fd.eventfd(0, Files.O_CLOEXEC);
        try {
            String script = "read n </dev/fd/" + slot + " && exit $n";
            var open = new PosixSpawn.Action.Open(slot, path, Files.O_RDONLY);
            assertThat(run(sh(script, open)).exitCode()).isEqualTo(7);
            var close = new PosixSpawn.Action.Close(slot);
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
        Signals.Disposition before = Signals.ignore(SIGUSR2);
        try {
            PosixSpawn.Request all = sh(script);
            PosixSpawn.Request others =
                    new PosixSpawn.Request(
                            all.path(),
                            all.argv(),
                            all.environment(),
                            ~Signals.bit(SIGUSR2),
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
        PosixSpawn.Request request =
                new PosixSpawn.Request(
                        "/etc/passwd".getBytes(StandardCharsets.UTF_8),
                        words("passwd"),
                        List.of(),
                        0,
                        0,
                        List.of());
        FilesTest.assertErrno(Errno.EACCES, () -> PosixSpawn.spawn(request));
        FilesTest.assertErrno(Errno.ECHILD, () -> Processes.wait4(-1, Processes.WNOHANG));
    }
}
