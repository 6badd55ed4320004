package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.insn.Encoding;
import sonde.bpf.inventory.ProgramListing;
import sonde.bpf.verifier.SourceLine;
import sonde.view.Escape;

/** {@code sonde bpf prog dump xlated|jited}. */
final class BpfProgDump {
    private final boolean opcodes;
    private final boolean numbers;
    private final boolean json;
    private final PrintWriter out;

    private BpfProgDump(boolean opcodes, boolean numbers, boolean json, PrintWriter out) {
        this.opcodes = opcodes;
        this.numbers = numbers;
        this.json = json;
        this.out = out;
    }

    /**
     * Dumps one program.
     *
     * @param words {@code xlated} or {@code jited}, the program, then {@code opcodes}, {@code
     *     linum} or {@code file PATH}
     */
    static int run(List<String> words, boolean json, CommandLine line) throws IOException {
        String form = words.isEmpty() ? "" : words.getFirst();
        if (!form.equals("xlated") && !form.equals("jited")) {
            throw new ParameterException(line, "say what to dump: xlated or jited");
        }
        List<Program> found = BpfTarget.of(words.subList(1, words.size()), line).programs();
        List<String> rest = words.subList(3, words.size());
        BpfProgDump dump =
                new BpfProgDump(
                        rest.contains("opcodes"), rest.contains("linum"), json, line.getOut());
        try {
            if (found.size() > 1) {
                List<Integer> ids = new ArrayList<>();
                for (Program program : found) {
                    ids.add(program.facts().id());
                }
                throw new ParameterException(line, "several programs are meant: id " + ids);
            }
            Program program = found.getFirst();
            int file = rest.indexOf("file");
            if (file >= 0 && file + 1 < rest.size()) {
                return toFile(program, form, Path.of(rest.get(file + 1)));
            }
            return form.equals("xlated") ? dump.translated(program) : dump.machine(program);
        } finally {
            found.forEach(Program::close);
        }
    }

    private static int toFile(Program program, String form, Path file) throws IOException {
        Files.write(
                file,
                form.equals("xlated")
                        ? Encoding.bytes(ProgramFacts.translated(program), ByteOrder.nativeOrder())
                        : ProgramFacts.jited(program),
                java.nio.file.StandardOpenOption.CREATE_NEW,
                java.nio.file.StandardOpenOption.WRITE);
        return ExitCode.DONE;
    }

    private int translated(Program program) throws IOException {
        List<ProgramListing.Row> rows = ProgramListing.of(program);
        if (rows.isEmpty()) {
            throw new BpfInputException(
                    "the kernel shows no instructions of it to this user; as root it may");
        }
        if (json) {
            List<Map<String, Object>> all = new ArrayList<>();
            for (ProgramListing.Row row : rows) {
                all.add(tree(row));
            }
            out.print(BpfJson.of(all));
            out.flush();
            return ExitCode.DONE;
        }
        for (ProgramListing.Row row : rows) {
            if (!row.prototype().isEmpty()) {
                out.println(Escape.line(row.prototype()) + ":");
            }
            source(row.source());
            String map = row.map().isEmpty() ? "" : "  ; " + Escape.line(row.map());
            out.printf("%4d: %s%s%n", row.slot(), row.text(), map);
            if (opcodes) {
                out.println("       " + hex(Encoding.bytes(row.words(), ByteOrder.nativeOrder())));
            }
        }
        out.flush();
        return ExitCode.DONE;
    }

    private void source(@Nullable SourceLine line) {
        if (line != null) {
            String where =
                    numbers
                            ? " [file:%s line_num:%d line_col:%d]"
                                    .formatted(line.file(), line.line(), line.column())
                            : "";
            out.println("; " + Escape.line(line.text() + where));
        }
    }

    private static String hex(byte[] bytes) {
        return java.util.HexFormat.ofDelimiter(" ").formatHex(bytes);
    }

    private Map<String, Object> tree(ProgramListing.Row row) {
        Map<String, Object> tree = new LinkedHashMap<>();
        if (!row.prototype().isEmpty()) {
            tree.put("proto", row.prototype());
        }
        place(tree, row.source());
        tree.put("disasm", row.text());
        if (opcodes) {
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
            if (numbers) {
                tree.put("file", line.file());
                tree.put("line_num", (long) line.line());
                tree.put("line_col", (long) line.column());
            }
        }
    }

    /** As bpftool splits struct bpf_insn; the immediate of two slots has 12 bytes. */
    private static Map<String, Object> codes(long[] words) {
        byte[] bytes = Encoding.bytes(words, ByteOrder.nativeOrder());
        Map<String, Object> codes = new LinkedHashMap<>();
        codes.put("code", "0x%02x".formatted(words[0] & 0xff));
        codes.put("src_reg", "0x%x".formatted(words[0] >> 12 & 0xf));
        codes.put("dst_reg", "0x%x".formatted(words[0] >> 8 & 0xf));
        codes.put("off", BpfBytes.texts(java.util.Arrays.copyOfRange(bytes, 2, 4)));
        codes.put("imm", BpfBytes.texts(java.util.Arrays.copyOfRange(bytes, 4, bytes.length)));
        return codes;
    }

    private int machine(Program program) throws IOException {
        List<ProgramListing.Machine> functions = ProgramListing.machineCode(program);
        if (functions.isEmpty()) {
            throw new BpfInputException(
                    "there is no machine code of it to be seen: it is interpreted, or this user"
                            + " may not see it (sysctl kernel.kptr_restrict, net.core.bpf_jit_harden)");
        }
        List<Map<String, Object>> all = new ArrayList<>();
        for (ProgramListing.Machine function : functions) {
            List<MachineText.Line> lines = MachineText.of(function.code());
            if (json) {
                all.add(tree(function, lines));
                continue;
            }
            out.println(Escape.line(function.prototype()) + ":");
            if (!function.symbol().equals(function.prototype())) {
                out.println(Escape.line(function.symbol()) + ":");
            }
            for (MachineText.Line line : lines) {
                source(function.lines().get(line.offset()));
                out.printf("%4x:\t%s%n", line.offset(), line.text());
                if (opcodes) {
                    out.println("\t" + hex(line.bytes()));
                }
            }
            out.println();
        }
        if (json) {
            out.print(BpfJson.of(all));
        }
        out.flush();
        return ExitCode.DONE;
    }

    private Map<String, Object> tree(
            ProgramListing.Machine function, List<MachineText.Line> lines) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("proto", function.prototype());
        tree.put("name", function.symbol());
        List<Map<String, Object>> instructions = new ArrayList<>();
        for (MachineText.Line line : lines) {
            Map<String, Object> one = new LinkedHashMap<>();
            place(one, function.lines().get(line.offset()));
            one.put("pc", "0x%x".formatted(line.offset()));
            String[] parts = line.text().split("\\s+", 2);
            one.put("operation", parts[0]);
            one.put("operands", parts.length < 2 ? List.of() : List.of(parts[1]));
            if (opcodes) {
                one.put("opcodes", BpfBytes.texts(line.bytes()));
            }
            instructions.add(one);
        }
        tree.put("insns", instructions);
        return tree;
    }
}
