package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.tools.script.ScriptTool;

/** Names of other collections' tools: what sonde says of them, and that the commands work. */
@Tag("product")
@Tag("tracefs")
class ElsewhereToolsTest {
    private static final Path TABLE =
            Sonde.ROOT.resolve("tools/src/main/resources/sonde/tools/script/elsewhere.txt");

    @TempDir Path folder;

    @Test
    void unknownNamesSayTheNearestWay() throws Exception {
        Sonde sonde = Sonde.in(folder);
        Sonde.Outcome top = sonde.run("tool", "tcptop");
        assertThat(top.status()).isEqualTo(2);
        assertThat(top.err())
                .contains("no tool is called 'tcptop'", "the nearest to tcptop: sonde tool tcplife")
                .doesNotContain("did you mean");
        assertThat(sonde.run("tool", "ext4slower-bpfcc").err()).contains("sonde tool fileslower");
        assertThat(sonde.run("tool", "trace").err())
                .contains("the nearest to trace: sonde trace\n");
        assertThat(sonde.run("tool", "deadlock").err()).contains("has nothing that does what");
        assertThat(sonde.run("tool", "opensnop").err()).contains("did you mean 'opensnoop'?");
    }

    /** Each is a tool of sonde, a command, or a script that this kernel takes. */
    @Test
    void theCommandsAreThere() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        List<String> names = new ArrayList<>();
        for (String line : Files.readAllLines(TABLE)) {
            if (line.startsWith("#")) {
                continue;
            }
            String[] parts = line.split(" \\| ", 2);
            names.addAll(List.of(parts[0].split(" ")));
            String[] words = parts[1].split(" ", 4);
            if (parts[1].startsWith("sonde tool ")) {
                assertThat(ScriptTool.names()).as(line).contains(words[2]);
            } else if (parts[1].startsWith("sonde trace '")) {
                String command = Sonde.ROOT + "/" + parts[1] + " --dry-run";
                Sonde.Outcome run = Sonde.in(folder).execute(List.of("/bin/bash", "-c", command));
                boolean lacks = run.err().contains("No matches for");
                assertThat(run.status() == 0 || lacks).as("%s %s", line, run).isTrue();
            } else if (!parts[1].equals("-")) {
                assertThat(Sonde.in(folder).run(words[1], "--help").status()).as(line).isZero();
            }
        }
        assertThat(names).doesNotHaveDuplicates().doesNotContainAnyElementsOf(ScriptTool.names());
    }
}
