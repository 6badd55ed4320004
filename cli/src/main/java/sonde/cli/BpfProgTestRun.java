package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import sonde.bpf.Program;
import sonde.bpf.TestRun;

/** {@code sonde bpf prog run}: BPF_PROG_TEST_RUN with bpftool's words. */
final class BpfProgTestRun {
    private static final int MOST_BYTES = 1 << 20;

    private BpfProgTestRun() {}

    static int run(Program program, List<String> rest, boolean json, CommandLine line)
            throws IOException {
        byte[] data = file(rest, "data_in", line);
        byte[] context = file(rest, "ctx_in", line);
        int repeat = 1;
        int at = rest.indexOf("repeat");
        if (at >= 0) {
            String digits = at + 1 < rest.size() ? rest.get(at + 1) : "";
            if (!digits.matches("[1-9][0-9]{0,8}")) {
                throw new ParameterException(line, "'repeat' takes a number");
            }
            repeat = Integer.parseInt(digits);
        }
        TestRun.Outcome outcome =
                program.run(new TestRun(data, context, repeat, data.length + 256));
        PrintWriter out = line.getOut();
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("retval", outcome.value() & 0xffff_ffffL);
        row.put("duration", (long) outcome.nanos());
        if (json) {
            row.put("data_out", BpfBytes.texts(outcome.data()));
            out.print(BpfJson.of(row));
        } else {
            out.printf(
                    "returned %d (0x%x), %d ns a run%n",
                    outcome.value(), outcome.value(), outcome.nanos());
            if (outcome.data().length > 0) {
                out.println("packet " + HexFormat.of().formatHex(outcome.data()));
            }
        }
        out.flush();
        int to = rest.indexOf("data_out");
        if (to >= 0 && to + 1 < rest.size()) {
            Files.write(Path.of(rest.get(to + 1)), outcome.data());
        }
        return ExitCode.DONE;
    }

    /** Bytes of a file, or {@code hex:0011}. */
    private static byte[] file(List<String> rest, String word, CommandLine line)
            throws IOException {
        int at = rest.indexOf(word);
        if (at < 0) {
            return new byte[0];
        }
        if (at + 1 == rest.size()) {
            throw new ParameterException(line, "'" + word + "' takes a file or hex:0011");
        }
        String value = rest.get(at + 1);
        try {
            if (value.startsWith("hex:")) {
                return HexFormat.of().parseHex(value.substring("hex:".length()));
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, "'" + value + "' are no digits", e);
        }
        byte[] bytes = BpfWords.read(Path.of(value));
        if (bytes.length > MOST_BYTES) {
            throw new BpfInputException(value + ": more than 1 MiB is no packet");
        }
        return bytes;
    }
}
