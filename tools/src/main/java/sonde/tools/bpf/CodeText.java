package sonde.tools.bpf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.insn.ProgramCode;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingLines;
import sonde.event.result.Result;
import sonde.event.result.ValueOutput;

/** Instructions as text, and as {@code bpftool -j prog dump xlated} has them. */
public final class CodeText {
    private CodeText() {}

    /** Two hexadecimal digits a byte, an instruction a line. */
    public static Result hex(ProgramCode code, ByteOrder order) {
        long[] words = code.words();
        return shown(
                words,
                Disassembler.lines(words),
                out -> {
                    HexFormat hex = HexFormat.ofDelimiter(" ");
                    for (long word : words) {
                        out.println(
                                hex.formatHex(InstructionEncoding.bytes(new long[] {word}, order)));
                    }
                });
    }

    /** An initialiser of an array of struct bpf_insn. */
    public static Result initialiser(ProgramCode code) {
        long[] words = code.words();
        return shown(words, Disassembler.lines(words), out -> initialiser(out, words));
    }

    /** As the kernel prints them. */
    static Result disassembly(long[] words) {
        List<String> lines = Disassembler.lines(words);
        return shown(words, lines, out -> lines.forEach(out::println));
    }

    private static Result shown(long[] words, List<String> lines, ListingLines text) {
        return new Document(out -> instructions(out, words, lines), Listing.ofLines(text), 1);
    }

    private static void initialiser(PrintWriter out, long[] words) {
        out.println("struct bpf_insn program[] = {");
        for (long word : words) {
            out.printf(
                    "    { .code = 0x%02x, .dst_reg = %d, .src_reg = %d, .off = %d, .imm = %d },%n",
                    word & 0xff,
                    word >> 8 & 0xf,
                    word >> 12 & 0xf,
                    (short) (word >> 16),
                    (int) (word >> 32));
        }
        out.println("};");
    }

    /** An array: bpftool's "disasm" with the slot and the words added. */
    static void instructions(ValueOutput out, long[] words, List<String> lines) throws IOException {
        out.beginArray();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            int slot = slot(line);
            int end = i + 1 < lines.size() ? slot(lines.get(i + 1)) : words.length;
            out.beginObject();
            out.field("slot", slot);
            out.field("disasm", line.substring(line.indexOf(':') + 2));
            out.beginArray("words");
            for (int k = slot; k < end; k++) {
                out.value("%016x".formatted(words[k]));
            }
            out.endArray();
            out.endObject();
        }
        out.endArray();
    }

    /** The number at the beginning of a line of the disassembler. */
    static int slot(String line) {
        return Integer.parseInt(line.substring(0, line.indexOf(':')));
    }
}
