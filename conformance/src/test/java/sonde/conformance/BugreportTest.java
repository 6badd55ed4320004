package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code sonde bugreport} tells, and what it does not. */
@Tag("product")
class BugreportTest {
    @TempDir Path folder;

    @Test
    void aReportHasTheBuildAndTheKernelAndNoNameOfTheMachine() throws Exception {
        Sonde sonde = Sonde.in(folder);
        Sonde.Outcome made = sonde.run("bugreport", "-o", "report.txt");
        assertThat(made.status()).as(made.toString()).isZero();
        assertThat(made.out())
                .contains("sonde 0.1.0", "zstd", "BPF programs", "perf_event_paranoid")
                .contains(Files.readString(Path.of("/proc/sys/kernel/osrelease")).strip())
                .isEqualTo(Files.readString(folder.resolve("report.txt")));
        String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        assertThat(
                        made.out()
                                .lines()
                                .noneMatch(line -> line.matches(".*\\b\\Q" + host + "\\E\\b.*")))
                .as("no line names the host " + host)
                .isTrue();
        assertThat(made.out())
                .doesNotContain(System.getProperty("user.home"))
                .doesNotContain(Sonde.ROOT.toRealPath().toString())
                .doesNotContain("leftovers");
        assertThat(sonde.run("bugreport", "-o", "report.txt").status()).isNotZero();
        assertThat(sonde.run("--version", "-v").out()).contains("0.1.0", "Java", "SQL");
    }
}
