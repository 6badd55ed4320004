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
        // The first use of a checkout tells on stderr that it builds.
        assertThat(Sonde.in(folder).run("--version").status()).isZero();
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

    @Test
    void failuresHaveTheirStatus() throws Exception {
        Files.writeString(folder.resolve("bad.asm"), "r0 = 1\nr1 = *(u63 *)(r2 +0)\n");
        Files.writeString(folder.resolve("fault.asm"), "r0 = *(u64 *)(r10 +8)\nexit\n");
        Files.writeString(folder.resolve("good.asm"), "r0 = 1\nexit\n");
        Files.writeString(folder.resolve("bad.hex"), "8d00000000000000");
        Files.write(folder.resolve("bad.bin"), new byte[13]);
        Sonde sonde = Sonde.in(folder);
        Sonde.Outcome bad = sonde.run("bpf", "asm", "bad.asm");
        assertThat(bad.status()).isEqualTo(4);
        assertThat(bad.err()).startsWith("sonde: bad.asm:2:8: a width is missing");
        assertThat(sonde.run("bpf", "run", "fault.asm").status()).isEqualTo(1);
        Sonde.Outcome unknown = sonde.run("bpf", "disasm", "bad.hex");
        assertThat(unknown.status()).isEqualTo(4);
        assertThat(unknown.out()).isEqualTo("0: (8d) BUG_8d\n");
        assertThat(sonde.run("bpf", "disasm", "bad.bin").status()).isEqualTo(4);
        assertThat(sonde.run("bpf", "disasm", "--classic", "bad.bin").status()).isEqualTo(4);
        assertThat(sonde.run("bpf").status()).isEqualTo(2);
        assertThat(sonde.run("bpf", "asm", "good.asm", "--to", "x").status()).isEqualTo(2);
        assertThat(sonde.run("bpf", "asm", "good.asm", "-o", "out.bin").status()).isZero();
        assertThat(Files.size(folder.resolve("out.bin"))).isEqualTo(16);
        assertThat(sonde.run("bpf", "asm", "good.asm", "-o", "out.bin").status()).isEqualTo(2);
        assertThat(sonde.run("bpf", "asm", "good.asm", "-f", "-o", "out.bin").status()).isZero();
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
