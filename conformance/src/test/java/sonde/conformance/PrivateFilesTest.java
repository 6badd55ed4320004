package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is made of a recording is its owner's alone, and there whole or not at all. */
@Tag("product")
class PrivateFilesTest {
    @TempDir Path folder;

    private String trace;

    @BeforeEach
    void writeARecording() throws Exception {
        String line =
                "  sh-7  [000] d..2. %d.000000: sched_wakeup: comm=sh pid=7 prio=120"
                        + " target_cpu=000\n";
        String text = "# tracer: nop\n#\n" + line.formatted(1) + line.formatted(2);
        trace = Files.writeString(folder.resolve("in.txt"), text).toString();
    }

    private Sonde.Outcome shell(String script) throws Exception {
        String sonde = Sonde.ROOT.resolve("sonde").toString();
        return Sonde.in(folder).execute(List.of("/bin/sh", "-c", script, "sh", sonde, trace));
    }

    private static String mode(Path file) throws Exception {
        return PosixFilePermissions.toString(
                Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS));
    }

    private List<String> left() throws Exception {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void onlyTheOwnerMayRead() throws Exception {
        List<String> made =
                List.of("p.html", "q.csv", "q.json", "q.parquet", "c.csv", "c.dat", "c.parquet");
        Sonde.Outcome outcome =
                shell(
                        "umask 022; set -e; \"$1\" report \"$2\" --html p.html;"
                                + " for i in csv json parquet; do \"$1\" query \"$2\" -o q.$i"
                                + " 'SELECT * FROM events'; done; for i in csv dat parquet; do"
                                + " \"$1\" convert \"$2\" c.$i; done;"
                                + " \"$1\" convert \"$2\" ctf --to ctf;"
                                + " umask 0377; \"$1\" report \"$2\" --html masked.html");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        for (String name : made) {
            assertThat(mode(folder.resolve(name))).as(name).isEqualTo("rw-------");
        }
        assertThat(mode(folder.resolve("masked.html"))).isEqualTo("r--------");
        assertThat(mode(folder.resolve("ctf"))).isEqualTo("rwx------");
        assertThat(mode(folder.resolve("ctf/metadata"))).isEqualTo("rw-------");
    }

    @Test
    void namesThatAreThereAreKept() throws Exception {
        Files.writeString(folder.resolve("mine"), "mine");
        Files.createSymbolicLink(folder.resolve("link"), Path.of("nowhere"));
        assertThat(shell("mkfifo fifo").status()).isZero();
        for (String name : List.of("mine", "link", "fifo")) {
            Sonde.Outcome page = shell("\"$1\" report \"$2\" --html " + name);
            assertThat(page.status()).as("%s", page).isEqualTo(2);
            Sonde.Outcome rows = shell("\"$1\" query \"$2\" -o " + name + " 'SELECT 1'");
            assertThat(rows.status()).as("%s", rows).isEqualTo(2);
            assertThat(rows.err()).contains("--force");
        }
        assertThat(folder.resolve("mine")).hasContent("mine");
        assertThat(left()).containsExactly("fifo", "in.txt", "link", "mine");
        // A pipe and a device are written, a link is replaced, none is opened by chance.
        Sonde.Outcome piped =
                shell(
                        "cat fifo >got & \"$1\" report \"$2\" --html fifo --force; wait;"
                                + " \"$1\" query \"$2\" -o link --force --format csv 'SELECT 7 x';"
                                + " \"$1\" query \"$2\" -o /dev/stdout --format csv 'SELECT 8 y'");
        assertThat(piped.status()).as("%s", piped).isZero();
        assertThat(folder.resolve("got")).content().contains("</html>");
        assertThat(folder.resolve("link")).hasContent("x\n7\n");
        assertThat(folder.resolve("nowhere")).doesNotExist();
        assertThat(piped.out()).isEqualTo("y\n8\n");
    }

    @Test
    void whatFailsOrIsKilledLeavesNothing() throws Exception {
        Sonde.Outcome wrong = shell("\"$1\" query \"$2\" -o x.csv 'SELECT nothing'");
        assertThat(wrong.status()).isEqualTo(2);
        assertThat(left()).containsExactly("in.txt");
        // It waits for the end of its input while the output is open.
        assertThat(shell("mkfifo in").status()).isZero();
        List<String> killed = new ArrayList<>();
        for (String signal : List.of("TERM", "KILL")) {
            Process query =
                    Sonde.in(folder)
                            .start(
                                    folder.resolve("out"),
                                    folder.resolve("err"),
                                    "query",
                                    "in",
                                    "-o",
                                    "x.csv",
                                    "SELECT 1");
            long end = System.nanoTime() + 30_000_000_000L;
            while (left().stream().noneMatch(name -> name.startsWith(".sonde-"))) {
                assertThat(System.nanoTime()).isLessThan(end);
                Thread.sleep(10);
            }
            new ProcessBuilder("kill", "-" + signal, query.pid() + "").start().waitFor();
            assertThat(query.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(left()).doesNotContain("x.csv");
            killed.add("-" + query.pid() + "-");
        }
        assertThat(left()).anyMatch(name -> name.contains(killed.getLast()));
        assertThat(left()).noneMatch(name -> name.contains(killed.getFirst()));
        Sonde.Outcome next = shell("\"$1\" query \"$2\" -o x.csv 'SELECT 1'");
        assertThat(next.status()).as("%s", next).isZero();
        assertThat(left()).containsExactly("err", "in", "in.txt", "out", "x.csv");
        for (String pid : killed) {
            assertThat(temporary(pid)).isEmpty();
        }
    }

    private static List<String> temporary(String part) throws Exception {
        try (Stream<Path> all = Files.list(Path.of("/tmp"))) {
            return all.map(Path::toString).filter(name -> name.contains(part)).toList();
        }
    }

    /** Who called sudo may read what root wrote for them. */
    @Test
    void outputBelongsToWhoCalledSudo() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        Sonde.Outcome outcome =
                shell("SUDO_UID=65534 SUDO_GID=65534 \"$1\" report \"$2\" --html p.html");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(Files.getAttribute(folder.resolve("p.html"), "unix:uid")).isEqualTo(65534);
        assertThat(mode(folder.resolve("p.html"))).isEqualTo("rw-------");
    }
}
