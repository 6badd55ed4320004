package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every command of docs/bpf.md that needs no kernel prints what stands there. */
@Tag("product")
class BpfGuideTest {
    private static final String INSISTS = "the verifier insists";

    @TempDir Path folder;

    @Test
    void commandsPrintWhatTheGuideSays() throws Exception {
        String guide = Files.readString(Sonde.ROOT.resolve("docs/bpf.md"));
        List<List<String>> blocks = blocks(guide);
        List<String> program =
                blocks.stream().filter(b -> b.toString().contains(INSISTS)).findFirst().get();
        Files.write(folder.resolve("ip.asm"), program);
        Files.write(
                folder.resolve("ip2.asm"),
                program.stream().filter(line -> !line.contains(INSISTS)).toList());
        int commands = 0;
        for (List<String> block : blocks) {
            int at = 0;
            while (at < block.size() && block.get(at).startsWith("$ ")) {
                String command = block.get(at++).substring(2);
                List<String> expected = new ArrayList<>();
                while (at < block.size() && !block.get(at).startsWith("$ ")) {
                    expected.add(block.get(at++));
                }
                if (!command.contains("sonde bpf ")
                        || command.contains("tcpdump")
                                && !Files.isExecutable(Path.of("/usr/bin/tcpdump"))) {
                    continue;
                }
                assertThat(shell(command)).as(command).isEqualTo(expected);
                commands++;
            }
        }
        assertThat(commands).isGreaterThan(5);
    }

    private static List<List<String>> blocks(String guide) {
        List<List<String>> blocks = new ArrayList<>();
        boolean inside = false;
        for (String line : guide.lines().toList()) {
            if (line.startsWith("```")) {
                inside = !inside;
                if (inside) {
                    blocks.add(new ArrayList<>());
                }
            } else if (inside) {
                blocks.getLast().add(line);
            }
        }
        return blocks;
    }

    private List<String> shell(String command) throws Exception {
        ProcessBuilder builder =
                new ProcessBuilder("sh", "-c", command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true);
        builder.environment()
                .merge("PATH", Sonde.ROOT.toString(), (path, ours) -> ours + ":" + path);
        builder.environment().remove("COLUMNS");
        Process process = builder.start();
        process.getOutputStream().close();
        byte[] out = process.getInputStream().readAllBytes();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        // tcpdump warns about the link type that it was told
        return new String(out, StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.startsWith("Warning: assuming Ethernet"))
                .toList();
    }
}
