package sonde.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Machine code as text, by objdump. */
final class MachineText {
    /** An instruction. */
    record Line(int offset, byte[] bytes, String text) {}

    private static final List<Path> PLACES =
            List.of(Path.of("/usr/bin/objdump"), Path.of("/usr/local/bin/objdump"));

    /** {@code " 0:\t55 \tpush %rbp"}. */
    private static final Pattern LINE =
            Pattern.compile("\\s*([0-9a-f]{1,8}):\\t((?:[0-9a-f]{2} ?|[0-9a-f]{8} ?)+)\\s*\\t(.*)");

    private MachineText() {}

    static List<Line> of(byte[] code) throws IOException {
        Path tool = PLACES.stream().filter(Files::isExecutable).findFirst().orElse(null);
        if (tool == null) {
            throw new BpfInputException(
                    "machine code is shown by objdump, which is missing here (Debian: binutils);"
                            + " 'dump jited ... file PATH' writes the bytes");
        }
        Path file = Files.createTempFile("sonde", ".code");
        try {
            Files.write(file, code);
            String machine =
                    System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "i386:x86-64";
            Process process =
                    new ProcessBuilder(
                                    tool.toString(),
                                    "-D",
                                    "-w",
                                    "-b",
                                    "binary",
                                    "-m",
                                    machine,
                                    file.toString())
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start();
            String text =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            List<Line> lines = lines(text);
            if (status != 0 || lines.isEmpty()) {
                throw new BpfInputException("objdump does not read the code: status " + status);
            }
            return lines;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            Files.delete(file);
        }
    }

    private static List<Line> lines(String text) {
        List<Line> lines = new ArrayList<>();
        for (String line : text.lines().toList()) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches()) {
                byte[] bytes = HexFormat.of().parseHex(matcher.group(2).replace(" ", ""));
                lines.add(
                        new Line(
                                Integer.parseInt(matcher.group(1), 16),
                                bytes,
                                matcher.group(3).strip()));
            }
        }
        return lines;
    }
}
