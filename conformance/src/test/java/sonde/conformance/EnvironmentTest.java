package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a user's shell may be like: it reaches the recorded command, and sonde speaks for itself.
 */
@Tag("product")
class EnvironmentTest {
    private static final String[] JAVAS_WORDS = {"Java", "JVM", "VM warning", "\tat ", "hs_err"};

    @TempDir Path folder;

    private Sonde.Outcome shell(String script) throws Exception {
        String sonde = Sonde.ROOT.resolve("sonde").toString();
        return Sonde.in(folder).execute(List.of("/bin/sh", "-c", script, "sh", sonde));
    }

    @Test
    void settingsOfJavaReachTheCommandOnly() throws Exception {
        Map<String, String> settings =
                Map.of(
                        "JAVA_TOOL_OPTIONS", "-XX:+UseG1GC -javaagent:/none.jar",
                        "JDK_JAVA_OPTIONS", "-XX:NoSuchOption=1",
                        "_JAVA_OPTIONS", "-Xbad",
                        "JDK_AOT_VM_OPTIONS", "",
                        "CLASSPATH", "/a b/$x'\"");
        Sonde sonde = Sonde.in(folder).with(settings);
        Sonde.Outcome outcome = sonde.run("record", "--no-summary", "-o", "r", "--", "env", "-0");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        List<String> got = List.of(outcome.out().split("\0"));
        settings.forEach((name, value) -> assertThat(got).contains(name + "=" + value));
        assertThat(got).noneMatch(variable -> variable.startsWith("SONDE_"));
        assertThat(outcome.err()).doesNotContain("Picked up").doesNotContain(JAVAS_WORDS);
        assumeTrue(Files.isWritable(Path.of("/proc/1/mem")), "scripts need root");
        String script = "begin { system(\"echo $JAVA_TOOL_OPTIONS\"); exit(); }";
        assertThat(sonde.run("trace", "--unsafe", "-q", script).out()).contains("-javaagent:/none");
    }

    @Test
    void outputThatCannotBeWrittenIsSaidAndCounts() throws Exception {
        for (String words : List.of("--version", "--help", "list --help", "trace --help")) {
            Sonde.Outcome full = shell("\"$1\" " + words + " >/dev/full");
            assertThat(full.status()).as("%s: %s", words, full).isEqualTo(3);
            assertThat(full.err()).contains("standard output: No space left on device");
            Sonde.Outcome closed = shell("\"$1\" " + words + " >&-");
            assertThat(closed.status()).as("%s: %s", words, closed).isEqualTo(3);
            assertThat(closed.err()).contains("standard output: Bad file descriptor");
            Sonde.Outcome reader = shell("{ \"$1\" " + words + "; echo $? >&2; } | true");
            assertThat(reader.err().strip()).as(words).isEqualTo("0");
        }
    }

    /** Without the launcher's stand-ins a file of the JVM's would get the number. */
    @Test
    void closedStreamsAreClosedForTheCommand() throws Exception {
        String list = "ls /proc/self/fd | tr \"\\n\" \" \" >seen";
        Sonde.Outcome outcome =
                shell("\"$1\" record --no-summary -o r -- sh -c '" + list + "' <&- 2>&-");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        // ls itself opens the folder at the lowest free number: that is 0.
        assertThat(Files.readString(folder.resolve("seen")).split(" ")).startsWith("0", "1");
        assertThat(Files.readString(folder.resolve("seen")).split(" ")).doesNotContain("2");
    }

    @Test
    void littleMemoryIsEnoughOrRefusedInWords() throws Exception {
        for (String limit : List.of("-v", "-d")) {
            Sonde.Outcome little = shell("ulimit " + limit + " 600000; \"$1\" elf /bin/ls");
            assertThat(little.status()).as("%s", little).isZero();
            assertThat(little.out()).contains("build-id");
            Sonde.Outcome less = shell("ulimit " + limit + " 100000; \"$1\" elf /bin/ls");
            assertThat(less.status()).as("%s", less).isEqualTo(3);
            assertThat(less.err()).contains("ulimit", "100000").doesNotContain(JAVAS_WORDS);
            assertThat(less.out()).isEmpty();
        }
        Sonde.Outcome recorded =
                shell(
                        "ulimit -v 1000000; ulimit -d 900000; \"$1\" record --no-summary -o r --"
                                + " sh -c 'ulimit -v; ulimit -d; env'");
        assertThat(recorded.out()).startsWith("1000000\n900000\n").doesNotContain("MALLOC_ARENA");
    }

    /** A cgroup that is too small for a recording would end it without a word. */
    @Test
    void theLimitOfACgroupIsEnoughOrRefusedInWords() throws Exception {
        Path old = Path.of("/sys/fs/cgroup/memory");
        Path groups = Files.isDirectory(old) ? old : old.getParent();
        String file = Files.isDirectory(old) ? "memory.limit_in_bytes" : "memory.max";
        assumeTrue(Files.isWritable(groups.resolve("cgroup.procs")), "needs root and cgroups");
        Path group = Files.createDirectory(groups.resolve("sonde-test-" + folder.getFileName()));
        try {
            assumeTrue(Files.exists(group.resolve(file)), "memory is not limited by cgroups here");
            String enter = "echo $$ >" + group + "/cgroup.procs && ";
            Files.writeString(group.resolve(file), "128M");
            Sonde.Outcome little =
                    shell(enter + "\"$1\" record -o 'little room' -- ls -R /etc >/dev/null");
            assertThat(little.status()).as("%s", little).isZero();
            assertThat(little.err()).contains("where the time went", "report 'little room.sonde'");
            Files.writeString(group.resolve(file), "64M");
            assertThat(shell(enter + "\"$1\" elf /bin/ls").out()).contains("build-id");
            Sonde.Outcome less = shell(enter + "\"$1\" record -- true");
            assertThat(less.status()).isEqualTo(3);
            assertThat(less.err()).contains("112 MiB", "the cgroup leaves it 64 MiB");
        } finally {
            // A process that has just ended is in it a little longer.
            for (int i = 0; i < 100 && !group.toFile().delete(); i++) {
                Thread.sleep(20);
            }
        }
    }

    @Test
    void coloursOnlyWhereATerminalWantsThem() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "needs script");
        String line = "  a-7  [000] d..2. %d.0: sched_wakeup: comm=a pid=7 prio=1 target_cpu=0\n";
        Files.writeString(
                folder.resolve("in.txt"),
                "# tracer: nop\n" + line.formatted(1) + line.formatted(2));
        String look = " script -qec \"$1 report in.txt\" /dev/null";
        assertThat(shell("TERM=xterm" + look).out()).contains("\033[");
        for (String dumb : List.of("TERM=dumb", "TERM=")) {
            assertThat(shell(dumb + look).out()).contains("on CPU").doesNotContain("\033");
        }
        // A line that says how long it takes is no colour.
        assertThat(shell("TERM=xterm NO_COLOR=1" + look).out())
                .contains("on CPU")
                .doesNotContainPattern("\033\\[[0-9;]*m");
    }
}
