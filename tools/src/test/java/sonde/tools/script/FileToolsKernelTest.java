package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tools for files see what this process does with files. */
@Tag("kernel")
class FileToolsKernelTest {
    @TempDir Path folder;

    private static void shell(String command) throws Exception {
        new ProcessBuilder("/bin/sh", "-c", command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    @Test
    void opensnoopShowsWhatWasOpenedAndWhatCameOfIt() throws Exception {
        Path there = Files.writeString(folder.resolve("there"), "x");
        String printed =
                ToolRun.see(
                        "opensnoop",
                        "cat +-1   2 " + folder + "/absent",
                        () -> shell("cat " + there + " " + folder + "/absent"));
        assertThat(printed).containsPattern("cat +3   0 " + there);
    }

    @Test
    void opensnoopShowsOnlyFailuresWhenAsked() throws Exception {
        Path there = Files.writeString(folder.resolve("there"), "x");
        String printed =
                ToolRun.see(
                        "opensnoop",
                        "cat +-1   2 " + folder + "/absent",
                        () -> shell("cat " + there + " " + folder + "/absent"),
                        "--failed",
                        "--name=cat");
        assertThat(printed).doesNotContain(there.toString()).doesNotContain("sh ");
    }
}
