package sonde.recording.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the tools of this machine print now. */
@Tag("kernel")
class TextKernelTest {
    @TempDir Path folder;

    private List<String> run(String file, String... command) throws Exception {
        Path out = folder.resolve(file);
        try {
            Process process =
                    new ProcessBuilder(command)
                            .directory(folder.toFile())
                            .redirectErrorStream(true)
                            .redirectOutput(folder.resolve(file + ".shown").toFile())
                            .start();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } catch (IOException e) {
            assumeTrue(false, command[0] + " is not here: " + e.getMessage());
        }
        return Files.readAllLines(Files.exists(out) ? out : folder.resolve(file + ".shown"));
    }

    @Test
    void straceOfAPipeline() throws Exception {
        List<String> lines =
                run("s.txt", "strace", "-f", "-ttt", "-T", "-o", "s.txt", "sh", "-c", "ls / | cat");
        assumeTrue(!lines.isEmpty(), "strace traced nothing here");
        Reading read = Reading.of(String.join("\n", lines));
        assertThat(read.format()).isEqualTo(TextFormat.STRACE);
        assertThat(read.notes()).isEmpty();
        long ends =
                lines.stream().filter(line -> line.matches(".*\\) += (-?\\d|0x|\\? E).*")).count();
        assertThat(read.events()).filteredOn("raw_syscalls:sys_exit"::equals).hasSize((int) ends);
        assertThat(read.events()).doesNotContain("notice:corrupt");
        assertThat(read.comms().values()).contains("sh");
    }

    @Test
    void theKernelsLog() throws Exception {
        for (String[] command :
                new String[][] {
                    {"dmesg"},
                    {"dmesg", "-T"},
                    {"dmesg", "-x"},
                    {"dmesg", "-r"},
                    {"dmesg", "--time-format", "iso"},
                    {"dmesg", "-d"}
                }) {
            List<String> lines = run(String.join("", command) + ".txt", command);
            assumeTrue(lines.size() > 10, "no log to read here");
            Reading read = Reading.of(String.join("\n", lines));
            assertThat(read.format()).as(String.join(" ", command)).isEqualTo(TextFormat.DMESG);
            long messages = lines.stream().filter(line -> !line.isBlank()).count();
            assertThat(read.rows()).hasSize((int) messages);
        }
    }
}
