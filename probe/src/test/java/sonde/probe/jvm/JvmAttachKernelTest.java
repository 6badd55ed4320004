package sonde.probe.jvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sonde.recording.bundle.JavaThreads;
import sonde.sys.ProcessCalls;

/** Against real JVMs. */
@Tag("kernel")
@Timeout(60)
class JvmAttachKernelTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final List<Process> started = new ArrayList<>();

    private static String classes() {
        return Sleeper.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    }

    private int start(List<String> prefix, String... options) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(
                List.of(
                        System.getProperty("java.home") + "/bin/java",
                        "-Xmx64m",
                        "-XX:+UseSerialGC"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classes(), Sleeper.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        started.add(process);
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        assertThat(line).startsWith("ready ");
        return (int)
                process.descendants()
                        .map(ProcessHandle::pid)
                        .filter(p -> JvmAttach.isJvm((int) (long) p))
                        .findFirst()
                        .orElse(process.pid())
                        .longValue();
    }

    @AfterEach
    void stop() throws Exception {
        for (Process process : started) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
            Files.deleteIfExists(Path.of("/tmp/perf-" + process.pid() + ".map"));
            Files.deleteIfExists(Path.of("/tmp/.java_pid" + process.pid()));
        }
    }

    private static String map(int pid) throws Exception {
        return new String(JvmAttach.perfMap(pid, LIMIT), StandardCharsets.UTF_8);
    }

    @Test
    void tellsItsThreads() throws Exception {
        int pid = start(List.of());
        JavaThreads told = JavaThreads.parse(pid, JvmAttach.threads(pid, true, LIMIT));
        assertThat(told.threads())
                .filteredOn(thread -> thread.name().equals("main"))
                .singleElement()
                .satisfies(main -> {
                    Path task = Path.of("/proc/" + pid + "/task/" + main.tid());
                    assertThat(task).isDirectory();
                    assertThat(main.place()).contains("Sleeper");
                });
    }

    @Test
    void readsTheMapAndReadsItAgain() throws Exception {
        int pid = start(List.of());
        assertThat(JvmAttach.isJvm(pid)).isTrue();
        assertThat(map(pid)).contains("sonde.probe.jvm.Sleeper.hotMethod");
        assertThat(map(pid).lines()).allMatch(l -> l.matches("(0x)?[0-9a-f]+ (0x)?[0-9a-f]+ .*"));
        assertThat(Path.of("/proc/" + pid + "/cwd/.attach_pid" + pid)).doesNotExist();
        try (var tmp = Files.list(Path.of("/tmp"))) {
            assertThat(tmp.map(p -> p.getFileName().toString()))
                    .noneMatch(n -> n.startsWith(".sonde-"));
        }
    }

    /** What any user could lay there to have a JVM of root overwrite a file. */
    @Test
    void doesNotMakeTheJvmWriteThroughALink() throws Exception {
        int pid = start(List.of());
        Path victim = Files.createTempFile("victim", "");
        Path map = Files.createSymbolicLink(Path.of("/tmp/perf-" + pid + ".map"), victim);
        assertThat(map(pid)).contains("hotMethod");
        assertThat(victim).isEmptyFile();
        Files.delete(map);
        Files.delete(victim);
    }

    @Test
    void asksAnotherUsersJvm() throws Exception {
        assumeTrue(ProcessCalls.geteuid() == 0, "needs root to start another user's process");
        int pid =
                start(
                        List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
                        "-Duser.dir=/");
        assertThat(map(pid)).contains("hotMethod");
    }

    @Test
    void asksAJvmInOtherNamespaces() throws Exception {
        assumeTrue(ProcessCalls.geteuid() == 0, "needs root to make namespaces");
        assumeTrue(!classes().startsWith("/tmp/"), "this checkout lies below what is replaced");
        int pid =
                start(
                        List.of(
                                "unshare",
                                "-m",
                                "-p",
                                "-f",
                                "--kill-child",
                                "sh",
                                "-c",
                                "mount -t tmpfs none /tmp && \"$@\"; exit $?",
                                "sh"));
        assertThat(Path.of("/proc/" + pid + "/root/tmp/hsperfdata_root")).isDirectory();
        assertThat(map(pid)).contains("hotMethod");
        assertThat(Path.of("/tmp/perf-" + pid + ".map")).doesNotExist();
    }

    @Test
    void neverSignalsAProcessThatIsNoJvm() throws Exception {
        Process sleep = new ProcessBuilder("sleep", "60").start();
        started.add(sleep);
        assertThat(JvmAttach.isJvm((int) sleep.pid())).isFalse();
        assertThatThrownBy(() -> JvmAttach.perfMap((int) sleep.pid(), LIMIT))
                .hasMessageContaining("is not a JVM that handles SIGQUIT");
        int without = start(List.of(), "-Xrs");
        assertThat(JvmAttach.isJvm(without)).isFalse();
        assertThat(sleep.isAlive()).isTrue();
        assertThat(JvmAttach.isJvm(0x7ffffff)).isFalse();
    }

    @Test
    void givesUpOnAStoppedJvm() throws Exception {
        int pid = start(List.of());
        ProcessCalls.kill(pid, ProcessCalls.SIGSTOP);
        long before = System.nanoTime();
        assertThatThrownBy(() -> JvmAttach.perfMap(pid, Duration.ofMillis(300)))
                .hasMessageContaining("does not listen in time");
        assertThat(System.nanoTime() - before).isLessThan(2_000_000_000L);
        assertThat(Path.of("/proc/" + pid + "/cwd/.attach_pid" + pid)).doesNotExist();
    }

    @Test
    void reportsACommandTheJvmDoesNotKnow() throws Exception {
        int pid = start(List.of());
        assertThatThrownBy(() -> JvmAttach.command(pid, "No.such", LIMIT))
                .hasMessageContaining("refuses");
    }

    @Test
    void refusesASocketOfAnotherUser() throws Exception {
        int pid = start(List.of());
        Path trap = Files.createFile(Path.of("/tmp/.java_pid" + pid));
        assertThatThrownBy(() -> JvmAttach.command(pid, "VM.version", LIMIT))
                .hasMessageContaining("is a regular file of user");
        Files.delete(trap);
    }
}
