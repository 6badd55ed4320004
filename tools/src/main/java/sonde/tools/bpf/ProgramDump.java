package sonde.tools.bpf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.inventory.ProgramListing;
import sonde.bpf.inventory.ProgramListing.FunctionMachineCode;
import sonde.bpf.verifier.SourceLine;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.tools.bpf.MachineText.MachineLine;
import sonde.view.TextEscape;

/**
 * {@code sonde bpf prog dump xlated|jited}.
 *
 * @param words {@code xlated} or {@code jited}, the program, then {@code opcodes}, {@code linum} or
 *     {@code file PATH}
 */
public record ProgramDump(List<String> words) {
    /** Says which words are wanted. */
    public ProgramDump {
        if (words.isEmpty() || !List.of("xlated", "jited").contains(words.getFirst())) {
            throw new BpfUseException("say what to dump: xlated or jited");
        }
    }

    private boolean isTranslated() {
        return words.getFirst().equals("xlated");
    }

    private boolean has(String word) {
        return words.subList(3, words.size()).contains(word);
    }

    /** The instructions of the one program meant; nothing when they went into a file. */
    public Optional<Result> run() throws IOException {
        List<Program> found = ObjectName.of(words.subList(1, words.size())).programs();
        try {
            if (found.size() > 1) {
                List<Integer> ids = new ArrayList<>();
                for (Program program : found) {
                    ids.add(program.facts().id());
                }
                throw new BpfUseException("several programs are meant: id " + ids);
            }
            Program program = found.getFirst();
            List<String> rest = words.subList(3, words.size());
            int file = rest.indexOf("file");
            if (file >= 0 && file + 1 < rest.size()) {
                write(program, Path.of(rest.get(file + 1)));
                return Optional.empty();
            }
            return Optional.of(isTranslated() ? translated(program) : machine(program));
        } finally {
            found.forEach(Program::close);
        }
    }

    private void write(Program program, Path file) throws IOException {
        byte[] bytes =
                isTranslated()
                        ? InstructionEncoding.bytes(
                                ProgramFacts.translated(program), ByteOrder.nativeOrder())
                        : ProgramFacts.jited(program);
        Files.write(file, bytes, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    private Result translated(Program program) throws IOException {
        List<ProgramListing.Row> rows = ProgramListing.of(program);
        if (rows.isEmpty()) {
            throw new BpfInputException(
                    "the kernel shows no instructions of it to this user; as root it may");
        }
        return Document.of(
                rows.stream().map(this::tree).toList(),
                Listing.ofLines(out -> rows.forEach(row -> lines(row, out))));
    }

    private void lines(ProgramListing.Row row, PrintWriter out) {
        if (!row.prototype().isEmpty()) {
            out.println(TextEscape.line(row.prototype()) + ":");
        }
        source(row.source(), out);
        String map = row.map().isEmpty() ? "" : "  ; " + TextEscape.line(row.map());
        out.printf("%4d: %s%s%n", row.slot(), row.text(), map);
        if (has("opcodes")) {
            out.println(
                    "       "
                            + hex(InstructionEncoding.bytes(row.words(), ByteOrder.nativeOrder())));
        }
    }

    private void source(@Nullable SourceLine line, PrintWriter out) {
        if (line != null) {
            String where =
                    has("linum")
                            ? " [file:%s line_num:%d line_col:%d]"
                                    .formatted(line.file(), line.line(), line.column())
                            : "";
            out.println("; " + TextEscape.line(line.text() + where));
        }
    }

    private static String hex(byte[] bytes) {
        return HexFormat.ofDelimiter(" ").formatHex(bytes);
    }

    private Map<String, Object> tree(ProgramListing.Row row) {
        Map<String, Object> tree = new LinkedHashMap<>();
        if (!row.prototype().isEmpty()) {
            tree.put("proto", row.prototype());
        }
        place(tree, row.source());
        tree.put("disasm", row.text());
        if (has("opcodes")) {
            tree.put("opcodes", codes(row.words()));
        }
        if (!row.map().isEmpty()) {
            tree.put("map_name", row.map());
        }
        return tree;
    }

    private void place(Map<String, Object> tree, @Nullable SourceLine line) {
        if (line != null) {
            tree.put("src", line.text());
            if (has("linum")) {
                tree.put("file", line.file());
                tree.put("line_num", (long) line.line());
                tree.put("line_col", (long) line.column());
            }
        }
    }

    /** As bpftool splits struct bpf_insn; the immediate of two slots has 12 bytes. */
    private static Map<String, Object> codes(long[] words) {
        byte[] bytes = InstructionEncoding.bytes(words, ByteOrder.nativeOrder());
        Map<String, Object> codes = new LinkedHashMap<>();
        codes.put("code", "0x%02x".formatted(words[0] & 0xff));
        codes.put("src_reg", "0x%x".formatted(words[0] >> 12 & 0xf));
        codes.put("dst_reg", "0x%x".formatted(words[0] >> 8 & 0xf));
        codes.put("off", MapBytes.texts(Arrays.copyOfRange(bytes, 2, 4)));
        codes.put("imm", MapBytes.texts(Arrays.copyOfRange(bytes, 4, bytes.length)));
        return codes;
    }

    private Result machine(Program program) throws IOException {
        List<FunctionMachineCode> functions = ProgramListing.machineCode(program);
        if (functions.isEmpty()) {
            throw new BpfInputException(
                    "there is no machine code of it to be seen: it is interpreted, or this user"
                            + " may not see it (sysctl kernel.kptr_restrict, net.core.bpf_jit_harden)");
        }
        List<List<MachineLine>> code = new ArrayList<>();
        for (FunctionMachineCode function : functions) {
            code.add(MachineText.of(function.code()));
        }
        List<Map<String, Object>> all = new ArrayList<>();
        for (int i = 0; i < functions.size(); i++) {
            all.add(tree(functions.get(i), code.get(i)));
        }
        return Document.of(
                all,
                Listing.ofLines(out -> {
                    for (int i = 0; i < functions.size(); i++) {
                        lines(functions.get(i), code.get(i), out);
                    }
                }));
    }

    private void lines(FunctionMachineCode function, List<MachineLine> lines, PrintWriter out) {
        out.println(TextEscape.line(function.prototype()) + ":");
        if (!function.symbol().equals(function.prototype())) {
            out.println(TextEscape.line(function.symbol()) + ":");
        }
        for (MachineLine line : lines) {
            source(function.lines().get(line.offset()), out);
            out.printf("%4x:\t%s%n", line.offset(), line.text());
            if (has("opcodes")) {
                out.println("\t" + hex(line.bytes()));
            }
        }
        out.println();
    }

    private Map<String, Object> tree(FunctionMachineCode function, List<MachineLine> lines) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("proto", function.prototype());
        tree.put("name", function.symbol());
        List<Map<String, Object>> instructions = new ArrayList<>();
        for (MachineLine line : lines) {
            Map<String, Object> one = new LinkedHashMap<>();
            place(one, function.lines().get(line.offset()));
            one.put("pc", "0x%x".formatted(line.offset()));
            String[] parts = line.text().split("\\s+", 2);
            one.put("operation", parts[0]);
            one.put("operands", parts.length < 2 ? List.of() : List.of(parts[1]));
            if (has("opcodes")) {
                one.put("opcodes", MapBytes.texts(line.bytes()));
            }
            instructions.add(one);
        }
        tree.put("insns", instructions);
        return tree;
    }
}
