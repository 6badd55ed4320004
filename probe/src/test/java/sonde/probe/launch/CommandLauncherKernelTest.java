package sonde.probe.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command equals one that the shell started itself. */
@Tag("kernel")
class CommandLauncherKernelTest {
    /** As the product's launcher script does it, without a process of its own. */
    private static final String ORIGIN =
            "while read -r k v; do [ $k = SigIgn: ] && i=$v; done </proc/self/status; ";

    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "trap '' INT PIPE HUP QUIT TSTP; ",
                "exec 5</dev/null 9>>nine; ",
                "ulimit -Sn 77; ulimit -Sc 0; ",
                "ulimit -Sn 5000; ulimit -Hn 5000; ulimit -Ss 4096; ",
                "umask 027; cd /usr/lib; ",
                "echo 300 >/proc/self/oom_score_adj; echo 0x7 >/proc/self/coredump_filter; ",
                "export ODD=\"$(printf 'a\\377\\376b')\" EMPTY= JAVA_TOOL_OPTIONS=-Xshare:auto; ",
                "unset PATH; ",
            })
    void equalsAnUntracedOne(String setup) throws Exception {
        Path state = Shell.compile(folder, "state");
        String command = state + " plain '' 'two words' \"$(/usr/bin/printf 'x\\377\\200')\"";
        compare(setup, "", command);
    }

    @Test
    void equalsOneStartedNice() throws Exception {
        compare("", "/usr/bin/nice -n 5 ", Shell.compile(folder, "state").toString());
    }

    @Test
    void equalsOneStartedByAnotherUser() throws Exception {
        Path state = Shell.compile(folder, "state");
        Files.setAttribute(folder, "unix:mode", 0777);
        compare("", "/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups ", state + "");
    }

    @Test
    void equalsOneStartedOnOneCpu() throws Exception {
        compare("", "/usr/bin/taskset 1 ", Shell.compile(folder, "state").toString());
    }

    @Test
    void equalsOneStartedWithBlockedSignals() throws Exception {
        String blocked = Shell.compile(folder, "blocked").toString();
        compare("", blocked + " ", Shell.compile(folder, "state").toString());
    }

    @Test
    void equalsOneFoundOnPath() throws Exception {
        Shell.compile(folder, "state");
        compare("PATH=/no/such:" + folder + ":$PATH; ", "", "state");
    }

    /** The JDK opens files without O_CLOEXEC, and other threads do so while the command is made. */
    @Test
    void filesOfOtherThreadsAreNotInherited() throws Exception {
        Path file = Files.writeString(folder.resolve("opened"), "x");
        AtomicBoolean ended = new AtomicBoolean();
        InheritedState origin = InheritedState.capture();
        Thread opener =
                Thread.ofPlatform()
                        .start(() -> {
                            while (!ended.get()) {
                                try (FileInputStream in = new FileInputStream(file.toFile())) {
                                    assertThat(in.read()).isPositive();
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            }
                        });
        try {
            for (int i = 0; i < 20; i++) {
                try (LaunchedCommand command =
                        CommandLauncher.prepare(CommandWords.of("/bin/true"), origin)) {
                    await(() -> !holds(command.pid(), file));
                }
            }
        } finally {
            ended.set(true);
            opener.join();
        }
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; i < 200 && !condition.getAsBoolean(); i++) {
            Thread.sleep(5);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    private static boolean holds(int pid, Path file) {
        String[] names = new File("/proc/" + pid + "/fd").list();
        for (String name : names == null ? new String[0] : names) {
            try {
                Path link = Path.of("/proc/" + pid + "/fd", name);
                if (Files.readSymbolicLink(link).equals(file)) {
                    return true;
                }
            } catch (IOException e) {
                continue; // closed meanwhile
            }
        }
        return false;
    }

    /** Runs the command both ways in one shell, with output to files of the same name. */
    private void compare(String setup, String prefix, String command) throws Exception {
        String out = folder.resolve("out").toString();
        String script =
                setup
                        + prefix
                        + command
                        + " >"
                        + out
                        + "; echo $?; /bin/mv "
                        + out
                        + " "
                        + out
                        + ".direct; "
                        + ORIGIN
                        + "SONDE_SIGIGN=$i "
                        + prefix
                        + Shell.launch("run")
                        + " "
                        + command
                        + " >"
                        + out
                        + "; echo $?";
        Shell.Outcome outcome = Shell.run(folder, script);
        String codes = outcome.output().replaceAll("Picked up .*\n", "");
        assertThat(codes).isEqualTo("7\n7\n");
        assertThat(Files.readString(folder.resolve("out")))
                .hasLineCount(Files.readAllLines(folder.resolve("out.direct")).size())
                .isEqualTo(Files.readString(folder.resolve("out.direct")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "no-such-command",
                "/no/such/file",
                "/etc/passwd",
                "/etc",
                "./not-elf",
                "./script-without-line",
                "./bad-interpreter",
                "true",
                "sh -c 'exit 41'",
                "sh -c 'kill -TERM $$'",
            })
    void exitsLikeAShell(String command) throws Exception {
        String files =
                "printf '\\177ELF\\0\\0\\0' >not-elf; echo 'echo \"$0 $1\"; exit 9' "
                        + ">script-without-line; printf '#!/no/such\\n' >bad-interpreter; "
                        + "/bin/chmod +x not-elf script-without-line bad-interpreter; ";
        Shell.Outcome direct = Shell.run(folder, files + command + " arg 2>/dev/null; echo $?");
        Shell.Outcome launched =
                Shell.run(
                        folder, Shell.launch("run") + " " + command + " arg 2>/dev/null; echo $?");
        assertThat(launched.output()).isEqualTo(direct.output());
    }

    /** Without -XX:-MaxFDLimit the JVM raises its own limit; the script's word counts then. */
    @Test
    void takesTheLimitFromTheLauncherScript() throws Exception {
        String java = Shell.launch("run").replace("-XX:-MaxFDLimit ", "");
        String shown = "sh -c 'ulimit -Sn; env | grep SONDE'";
        Shell.Outcome outcome =
                Shell.run(
                        folder,
                        "ulimit -Sn 99; "
                                + java
                                + " "
                                + shown
                                + "; SONDE_NOFILE=99 "
                                + java
                                + " "
                                + shown);
        assertThat(outcome.output().lines()).hasSize(2).last().isEqualTo("99");
    }

    @Test
    void readsAPipe() throws Exception {
        Shell.Outcome outcome =
                Shell.run(folder, "echo hello | " + Shell.launch("run") + " tr a-z A-Z | cat");
        assertThat(outcome.output()).isEqualTo("HELLO\n");
    }

    /** strace counts every attempt, also those that fail. */
    @Test
    void callsExecveOnce() throws Exception {
        org.junit.jupiter.api.Assumptions.assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/strace")), "no strace on this machine");
        Shell.Outcome outcome =
                Shell.run(
                        folder,
                        "strace -f -qq -e trace=execve,execveat -o calls "
                                + Shell.launch("run")
                                + " true; echo $?");
        assertThat(outcome.output()).isEqualTo("0\n");
        assertThat(
                        Files.readAllLines(folder.resolve("calls")).stream()
                                .filter(l -> l.contains("exec")))
                .hasSize(2)
                .last()
                .asString()
                .contains("/true\", [\"true\"]");
    }

    /** The child shares the recorder's memory while it waits; it must not outlive it. */
    @Test
    void diesWithAKilledRecorder() throws Exception {
        String script =
                Shell.launch("hold")
                        + " /bin/touch began >pid & jvm=$!; while ! [ -s pid ]; do sleep 0.05; done;"
                        + " read pid <pid; cat /proc/$pid/comm; kill -9 $jvm; i=0;"
                        + " while [ $((i+=1)) -lt 1000 ] && grep -qs 'State:.[^Z]' /proc/$pid/status;"
                        + " do sleep 0.005; done;"
                        + " grep -s State /proc/$pid/status; ls began 2>&1";
        Shell.Outcome outcome = Shell.run(folder, script);
        assertThat(outcome.output())
                // A zombie where process 1 does not reap what it inherits.
                .matches("sonde-spawn\n(State:\tZ \\(zombie\\)\n)?ls: .*'began': No such file.*\n");
    }

    @Test
    void leavesNothingWhenNeverReleased() throws Exception {
        InheritedState origin = InheritedState.capture();
        int pid;
        Path file = folder.resolve("began");
        try (LaunchedCommand target =
                CommandLauncher.prepare(CommandWords.of("touch", file.toString()), origin)) {
            pid = target.pid();
            assertThat(Path.of("/proc/" + pid)).exists();
            assertThat(LaunchedCommand.childNamed("sonde-spawn")).isEqualTo(pid);
        }
        assertThat(Path.of("/proc/" + pid)).doesNotExist();
        assertThat(file).doesNotExist();
        String mine = "sonde-" + ProcessHandle.current().pid() + "-";
        try (var shm = Files.list(Path.of("/dev/shm"))) {
            assertThat(shm.filter(p -> p.getFileName().toString().startsWith(mine))).isEmpty();
        }
    }

    @Test
    void countsWhatTheCommandUsed() throws Exception {
        InheritedState origin = InheritedState.capture();
        try (LaunchedCommand target =
                CommandLauncher.prepare(
                        CommandWords.of(
                                "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"),
                        origin)) {
            target.release();
            var usage = target.await().rusage();
            assertThat(usage.userMicros()).isBetween(10_000L, 10_000_000L);
            assertThat(usage.maxRssKib()).isPositive();
        }
    }
}
