package sonde.tools.bpf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.Program;
import sonde.bpf.TestRun;
import sonde.bpf.TestRun.TestOutcome;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;

/**
 * {@code sonde bpf prog run}: BPF_PROG_TEST_RUN with bpftool's words.
 *
 * @param words {@code data_in FILE}, {@code ctx_in FILE}, {@code data_out FILE}, {@code repeat N}
 */
public record ProgramTestRun(List<String> words) {
    private static final int MOST_BYTES = 1 << 20;

    /** Runs it; what it left of the packet goes into the file of data_out. */
    public Result run(Program program) throws IOException {
        byte[] data = file("data_in");
        byte[] context = file("ctx_in");
        int repeat = 1;
        int at = words.indexOf("repeat");
        if (at >= 0) {
            String digits = at + 1 < words.size() ? words.get(at + 1) : "";
            if (!digits.matches("[1-9][0-9]{0,8}")) {
                throw new BpfUseException("'repeat' takes a number");
            }
            repeat = Integer.parseInt(digits);
        }
        TestOutcome outcome = program.run(new TestRun(data, context, repeat, data.length + 256));
        int to = words.indexOf("data_out");
        if (to >= 0 && to + 1 < words.size()) {
            Files.write(Path.of(words.get(to + 1)), outcome.data());
        }
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("retval", outcome.value() & 0xffff_ffffL);
        row.put("duration", (long) outcome.nanos());
        row.put("data_out", MapBytes.texts(outcome.data()));
        return Document.of(
                row,
                Listing.ofLines(out -> {
                    out.printf(
                            "returned %d (0x%x), %d ns a run%n",
                            outcome.value(), outcome.value(), outcome.nanos());
                    if (outcome.data().length > 0) {
                        out.println("packet " + HexFormat.of().formatHex(outcome.data()));
                    }
                }));
    }

    /** Bytes of a file, or {@code hex:0011}. */
    private byte[] file(String word) throws IOException {
        int at = words.indexOf(word);
        if (at < 0) {
            return new byte[0];
        }
        if (at + 1 == words.size()) {
            throw new BpfUseException("'" + word + "' takes a file or hex:0011");
        }
        String value = words.get(at + 1);
        try {
            if (value.startsWith("hex:")) {
                return HexFormat.of().parseHex(value.substring("hex:".length()));
            }
        } catch (IllegalArgumentException e) {
            throw new BpfUseException("'" + value + "' are no digits", e);
        }
        byte[] bytes = ProgramFile.read(Path.of(value));
        if (bytes.length > MOST_BYTES) {
            throw new BpfInputException(value + ": more than 1 MiB is no packet");
        }
        return bytes;
    }
}
