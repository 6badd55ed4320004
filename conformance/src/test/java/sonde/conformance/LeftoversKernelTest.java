package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever sonde is started next cleans up behind a killed one, and behind no other. */
@Tag("kernel")
@Tag("long")
class LeftoversKernelTest {
    private static final Path UPROBES = KernelState.TRACEFS.resolve("uprobe_events");

    @TempDir Path folder;

    private final List<Process> started = new ArrayList<>();

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        assumeTrue(Files.isDirectory(KernelState.TRACEFS.resolve("instances")), "needs tracefs");
    }

    @AfterEach
    void endWhatWasStarted() throws Exception {
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
    }

    private Process recorder(String name) throws Exception {
        Process recorder =
                Sonde.in(folder)
                        .startArmed(
                                folder.resolve(name + ".out"),
                                folder.resolve(name + ".err"),
                                "--no-summary",
                                "-a",
                                "-o",
                                name,
                                "--duration",
                                "120s");
        started.add(recorder);
        return recorder;
    }

    private Process killed() throws Exception {
        Process dead = recorder("dead");
        assertThat(KernelState.instancesOf(dead.pid())).isNotEmpty();
        dead.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
        assertThat(KernelState.instancesOf(dead.pid())).isNotEmpty();
        return dead;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "list sched:*",
                "trace -q begin{exit()}",
                "doctor",
                "doctor --clean",
                "probe list",
                "bpf prog list",
                "kernel features",
                "tool execsnoop --duration 1s",
                "record --no-summary -o next -- true"
            })
    void everyStartThatUsesTheKernelCleansUp(String words) throws Exception {
        Sonde.Outcome next = null;
        boolean said = false;
        // Another sonde on this machine may be first.
        for (int i = 0; i < 4 && !said; i++) {
            Process dead = killed();
            next = Sonde.in(folder).run(words.split(" "));
            assertThat(KernelState.instancesOf(dead.pid())).as("%s", next).isEmpty();
            said =
                    !words.startsWith("doctor") && !words.startsWith("record")
                            || (next.out() + next.err()).contains("-" + dead.pid() + "-");
        }
        assertThat(said).as("%s", next).isTrue();
    }

    /** Reading files and asking for help cost no look at the kernel. */
    @Test
    void whatReadsFilesLeavesTheKernelAlone() throws Exception {
        for (String words : List.of("trace --help", "elf /bin/true", "bpf asm --help")) {
            boolean left = false;
            for (int i = 0; i < 4 && !left; i++) {
                Process dead = killed();
                Sonde.in(folder).run(words.split(" "));
                left = !KernelState.instancesOf(dead.pid()).isEmpty();
            }
            assertThat(left).as(words).isTrue();
        }
        Sonde.in(folder).run("doctor", "--clean");
    }

    @Test
    void onlyWhatIsProvenDeadGoes() throws Exception {
        Process alive = recorder("alive");
        Process dead = recorder("dead");
        String instance = KernelState.instancesOf(dead.pid()).getFirst();
        dead.destroyForcibly().waitFor();
        String[] parts = instance.split("-"); // sonde, boot, pid namespace, pid, start, word
        String one = String.join("-", parts[0], parts[1], "1", parts[3], parts[4], "elsewhere");
        String other = "other-" + dead.pid();
        Path elsewhere = KernelState.TRACEFS.resolve("instances").resolve(one);
        Path others = KernelState.TRACEFS.resolve("instances").resolve(other);
        Path lying = Path.of("/tmp", "." + instance.replaceFirst("-[a-z]+$", "-query1"));
        Path living = Path.of("/tmp", "." + KernelState.instancesOf(alive.pid()).getFirst() + "2");
        String probe = "sonde_" + parts[3] + "_" + parts[4] + "_" + parts[2];
        try {
            Files.createDirectory(elsewhere);
            Files.createDirectory(others);
            for (Path scratch : List.of(lying, living)) {
                Files.createDirectories(scratch.resolve("deep/er"));
                Files.writeString(scratch.resolve("deep/file"), "rows");
                Files.createSymbolicLink(scratch.resolve("link"), folder);
            }
            Files.writeString(
                    UPROBES,
                    "p:" + probe + "/p1 /bin/true:0x2000\np:" + probe + "x/p1 /bin/true:0x2000\n",
                    StandardOpenOption.APPEND);
            Json report = Json.parse(Sonde.in(folder).run("doctor", "--clean", "--json").out());
            List<Json> rows = Recorded.rows(report, "leftovers");
            // Another sonde on this machine may have been first, so who removed them is not asked.
            assertThat(KernelState.instances()).doesNotContain(instance);
            assertThat(rows)
                    .filteredOn(row -> row.text("done").equals("left"))
                    .extracting(row -> row.text("name") + ": " + row.text("why"))
                    .contains(
                            one
                                    + ": a sonde's of another container, which cannot be seen from"
                                    + " here",
                            other + ": another tracer's; sonde leaves it alone")
                    .anyMatch(line -> line.endsWith(": process " + alive.pid() + " uses it"));
            assertThat(elsewhere).isDirectory();
            assertThat(others).isDirectory();
            assertThat(living.resolve("deep/file")).exists();
            assertThat(lying).doesNotExist();
            assertThat(folder).isDirectory();
            assertThat(Files.readString(UPROBES))
                    .doesNotContain(probe + "/")
                    .contains(probe + "x/");
            assertThat(KernelState.instancesOf(alive.pid())).isNotEmpty();
            assertThat(alive.isAlive()).isTrue();
        } finally {
            Sonde.in(folder).execute(List.of("rm", "-rf", lying.toString(), living.toString()));
            Files.writeString(UPROBES, "-:" + probe + "x/p1\n", StandardOpenOption.APPEND);
            Files.deleteIfExists(elsewhere);
            Files.deleteIfExists(others);
        }
    }
}
