package sonde.tools.bpf;

import static sonde.sys.FileCalls.O_WRONLY;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.sys.PosixSpawn;
import sonde.sys.PosixSpawn.SpawnAction.SpawnOpen;
import sonde.sys.PosixSpawn.SpawnRequest;
import sonde.sys.ProcessCalls;
import sonde.sys.WaitStatus;

/** Machine code as text, by objdump. */
final class MachineText {
    /** An instruction. */
    record MachineLine(int offset, byte[] bytes, String text) {}

    private static final List<Path> PLACES =
            List.of(Path.of("/usr/bin/objdump"), Path.of("/usr/local/bin/objdump"));

    /** {@code " 0:\t55 \tpush %rbp"}. */
    private static final Pattern LINE =
            Pattern.compile("\\s*([0-9a-f]{1,8}):\\t((?:[0-9a-f]{2} ?|[0-9a-f]{8} ?)+)\\s*\\t(.*)");

    private MachineText() {}

    static List<MachineLine> of(byte[] code) throws IOException {
        Path tool = PLACES.stream().filter(Files::isExecutable).findFirst().orElse(null);
        if (tool == null) {
            throw new BpfInputException(
                    "machine code is shown by objdump, which is missing here (Debian: binutils);"
                            + " 'dump jited ... file PATH' writes the bytes");
        }
        Path file = Files.createTempFile("sonde", ".code");
        Path text = Files.createTempFile("sonde", ".text");
        try {
            Files.write(file, code);
            int status = objdump(tool, file, text);
            List<MachineLine> lines = lines(Files.readString(text));
            if (status != 0 || lines.isEmpty()) {
                throw new BpfInputException("objdump does not read the code: status " + status);
            }
            return lines;
        } finally {
            Files.delete(file);
            Files.delete(text);
        }
    }

    /** Its status; it writes into the file. */
    private static int objdump(Path tool, Path code, Path text) throws IOException {
        boolean arm = System.getProperty("os.arch").equals("aarch64");
        List<byte[]> words = new ArrayList<>();
        for (String word :
                List.of(
                        tool.toString(),
                        "-D",
                        "-w",
                        "-b",
                        "binary",
                        "-m",
                        arm ? "aarch64" : "i386:x86-64",
                        code.toString())) {
            words.add(bytes(word));
        }
        int pid =
                PosixSpawn.spawn(
                        new SpawnRequest(
                                bytes(tool.toString()),
                                words,
                                List.of(bytes("LC_ALL=C")),
                                0,
                                0,
                                List.of(
                                        new SpawnOpen(1, bytes(text.toString()), O_WRONLY),
                                        new SpawnOpen(2, bytes("/dev/null"), O_WRONLY))));
        return ProcessCalls.wait4(pid, 0).map(WaitStatus::shellCode).orElse(-1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static List<MachineLine> lines(String text) {
        List<MachineLine> lines = new ArrayList<>();
        for (String line : text.lines().toList()) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches()) {
                byte[] bytes = HexFormat.of().parseHex(matcher.group(2).replace(" ", ""));
                lines.add(
                        new MachineLine(
                                Integer.parseInt(matcher.group(1), 16),
                                bytes,
                                matcher.group(3).strip()));
            }
        }
        return lines;
    }
}
