package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With less than all rights the rest is recorded, and each gap is said with its remedy. */
@Tag("product")
class PrivilegeTest {
    private static final String[] NOBODY = {
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"
    };

    /** Of nobody, whose start-up cache lies there for all tests. */
    @TempDir static Path home;

    @TempDir Path folder;

    @BeforeEach
    void asRootBuiltAndOpenToAll() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        assertThat(Sonde.in(folder).run("--version").status()).isZero();
        for (Path open : List.of(folder, home)) {
            Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        }
    }

    private Sonde nobody() throws Exception {
        Sonde sonde = Sonde.in(folder).with(Map.of("HOME", home.toString())).behind(NOBODY);
        Sonde.Outcome seen =
                Sonde.in(folder)
                        .behind(NOBODY)
                        .execute(
                                List.of(
                                        "setpriv",
                                        "--reuid=65534",
                                        "test",
                                        "-x",
                                        Sonde.ROOT.resolve("sonde").toString()));
        assumeTrue(seen.status() == 0, "the checkout is not readable by other users");
        return sonde;
    }

    private static void assertSaid(Sonde.Outcome outcome, String... words) {
        assertThat(outcome.err()).doesNotContain("Exception", "\tat ");
        assertThat(outcome.err().lines())
                .as("%s", outcome)
                .anyMatch(line -> List.of(words).stream().allMatch(line::contains));
    }

    @Test
    void unprivilegedUser() throws Exception {
        Sonde.Outcome outcome =
                nobody().run(
                                "record",
                                "-o",
                                "mine",
                                "--",
                                "sh",
                                "-c",
                                "i=0; while [ $i -lt" + " 300000 ]; do i=$((i+1)); done; exit 5");
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(5);
        assertSaid(outcome, "system calls, wake-ups, block I/O and signals", "root");
        assertSaid(outcome, "set-id", "root");
        assertSaid(outcome, "file names and socket addresses");
        Path bundle = folder.resolve("mine.sonde");
        assertThat(Files.getOwner(bundle).getName()).isIn("nobody", "65534");
        Json report = Json.parse(nobody().run("report", "mine.sonde", "--json", "--oncpu").out());
        assertThat(Recorded.rows(report, "on_cpu")).isNotEmpty();
        assertThat(String.join("\n", report.texts("notes"))).contains("root");
        Json threads =
                Json.parse(nobody().run("report", "mine.sonde", "--json", "--threads").out());
        List<Json> rows = Recorded.rows(threads, "threads");
        assertThat(rows).isNotEmpty();
        assertThat(Recorded.sum(rows, "user", row -> true)).isPositive();
        assertThat(Recorded.sum(rows, "wall", row -> row.text("thread").equals("sh")))
                .isGreaterThanOrEqualTo(Recorded.sum(rows, "user", row -> true));
        assertThat(String.join("\n", report.texts("notes"))).doesNotContain("0.000 s wall");
        assertThat(nobody().run("doctor").out()).contains("tracefs");
    }

    @Test
    void processOfAnotherUserIsRefusedInOneLine() throws Exception {
        Sonde.Outcome outcome = nobody().run("record", "-p", "1", "--duration", "1s");
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(3);
        assertThat(outcome.err().strip().lines()).hasSize(1);
        assertSaid(outcome, "process 1", "another user's", "root");
    }

    @Test
    void unprivilegedUserOfAPrivilegedProgram() throws Exception {
        Sonde.Outcome outcome =
                nobody().run("record", "-o", "other", "-p", "1", "--duration", "1s");
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(3);
        assertThat(outcome.err()).startsWith("sonde: ").doesNotContain("Exception");
        assertThat(outcome.err().lines().count()).isLessThanOrEqualTo(6);
    }

    @Test
    void rootWithoutCapabilities() throws Exception {
        Sonde.Outcome outcome =
                Sonde.in(folder)
                        .behind(
                                "setpriv",
                                "--bounding-set=-sys_admin,-bpf,-perfmon",
                                "--inh-caps=-sys_admin,-bpf,-perfmon")
                        .run(
                                "record",
                                "-o",
                                "capless",
                                "--",
                                "sh",
                                "-c",
                                "ls / >/dev/null; exit 6");
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(6);
        assertSaid(outcome, "file names and socket addresses", "CAP_");
        Recorded recorded = Recorded.of(folder.resolve("capless.sonde"));
        assertThat(recorded.meta().texts("notes"))
                .isNotEmpty()
                .allMatch(note -> note.length() < 300 && !note.contains("\n"));
        recorded.report();
    }

    /** Root of a user namespace of its own owns tracefs' files and may not read them. */
    @Test
    void aDryRunOfAProbeNeedsNoRights() throws Exception {
        Path program = folder.resolve("p.c");
        Files.writeString(program, "int main(int count) { return count; }\n");
        assertThat(Sonde.in(folder).execute(List.of("gcc", "-g", "-o", "p", "p.c")).status())
                .isZero();
        Sonde.Outcome outcome =
                Sonde.in(folder)
                        .behind("unshare", "--user", "--map-root-user")
                        .run("probe", "add", "--dry-run", "--json", "-x", "./p", "main count");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(outcome.out()).contains("\"event\":\"probe_p:main\"");
    }

    @Test
    void paranoidKernelIsNamedWithItsSetting() throws Exception {
        String paranoid = Files.readString(Path.of("/proc/sys/kernel/perf_event_paranoid")).strip();
        assumeTrue(Integer.parseInt(paranoid) >= 2, "perf_event_paranoid is " + paranoid);
        Sonde.Outcome outcome = nobody().run("record", "-o", "paranoid", "--", "true");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertSaid(outcome, "kernel code in samples", "perf_event_paranoid");
    }

    @Test
    void outputFolderThatIsTaken() throws Exception {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createSymbolicLink(folder.resolve("taken.sonde"), elsewhere);
        Path file = Files.writeString(folder.resolve("file"), "precious");
        Path made = Files.createDirectory(folder.resolve("made.sonde"));
        Files.createSymbolicLink(made.resolve("meta.json"), file);
        Sonde sonde = Sonde.in(folder);
        sonde.execute(List.of("mkfifo", folder.resolve("pipe.sonde").toString()));
        sonde.execute(List.of("chown", "-R", "65534", made.toString()));
        for (String name : List.of("taken", "pipe", "made")) {
            Sonde.Outcome outcome = sonde.run("record", "-o", name, "--", "true");
            assertThat(outcome.status()).as("%s", outcome).isZero();
            Path next = folder.resolve(name + ".2.sonde");
            Path dashed = folder.resolve(name + "-2.sonde");
            Path there = Files.exists(next) ? next : dashed;
            assertThat(there).as("%s", outcome).isDirectory();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(there)))
                    .isEqualTo("rwx------");
            assertThat(outcome.err()).contains(there.getFileName().toString());
        }
        assertThat(elsewhere).isEmptyDirectory();
        assertThat(file).hasContent("precious");
        assertThat(Files.isSymbolicLink(made.resolve("meta.json"))).isTrue();
        assertThat(Files.exists(folder.resolve("pipe.sonde"), LinkOption.NOFOLLOW_LINKS)).isTrue();
    }

    /** A parent that is a link of another user's is refused or followed, but nothing is lost. */
    @Test
    void missingParentIsAnError() throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).run("record", "-o", "none/such", "--", "true");
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(3);
        assertThat(outcome.err()).startsWith("sonde: ").contains("none");
        assertThat(folder.resolve("none")).doesNotExist();
    }
}
