package sonde.tools.bpf;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import sonde.bpf.classic.ClassicFilterException;
import sonde.bpf.classic.ClassicProgram;
import sonde.bpf.classic.ClassicTranslation;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.insn.InvalidInstructionException;
import sonde.bpf.object.ObjectListing;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.view.TextEscape;

/**
 * {@code sonde bpf disasm}.
 *
 * @param result the instructions as the kernel prints them
 * @param problem what of them is not an instruction; empty when all are
 */
public record Disassembly(Result result, String problem) {
    /** What instructions a file holds. */
    public enum Kind {
        /** eBPF. */
        EXTENDED,
        /** Classic BPF: decimal as tcpdump -ddd writes it, or its bytes. */
        CLASSIC,
        /** The same, as the eBPF program that it becomes. */
        TRANSLATED,
    }

    /** Reads a file; an object of a compiler is known by its first bytes. */
    public static Disassembly of(Path from, Kind kind, ByteOrder order) throws IOException {
        byte[] bytes = ProgramFile.read(from);
        if (ProgramFile.isElf(bytes)) {
            return new Disassembly(object(from), "");
        }
        if (kind == Kind.CLASSIC) {
            ClassicProgram program = classicProgram(from, bytes, order);
            return new Disassembly(Listing.ofLines(out -> out.print(program)), "");
        }
        long[] words =
                kind == Kind.TRANSLATED
                        ? ClassicTranslation.of(classicProgram(from, bytes, order)).words()
                        : ProgramFile.words(from, bytes, order);
        return new Disassembly(CodeText.disassembly(words), problem(from, words));
    }

    private static String problem(Path from, long[] words) {
        try {
            InstructionEncoding.decodeAll(words);
            return "";
        } catch (InvalidInstructionException e) {
            return ProgramFile.name(from) + ": " + e.getMessage();
        }
    }

    /** The functions of an object, with what its relocations name behind the instructions. */
    private static Result object(Path from) throws IOException {
        List<ObjectListing> all = ObjectListing.of(ObjectRecipe.read(List.of(from)));
        return new Document(
                out -> {
                    out.beginArray();
                    for (ObjectListing one : all) {
                        out.beginObject();
                        out.field("name", one.name());
                        out.field("section", one.section());
                        out.name("insns");
                        CodeText.instructions(out, one.words(), Disassembler.lines(one.words()));
                        out.field("references", one.references());
                        out.endObject();
                    }
                    out.endArray();
                },
                Listing.ofLines(out -> {
                    for (ObjectListing one : all) {
                        out.println(TextEscape.line(one.section() + ", " + one.name() + ":"));
                        for (String line : Disassembler.lines(one.words())) {
                            String name = one.references().getOrDefault(CodeText.slot(line), "");
                            out.println(
                                    line + (name.isEmpty() ? "" : "  ; " + TextEscape.line(name)));
                        }
                    }
                }),
                3);
    }

    private static ClassicProgram classicProgram(Path from, byte[] bytes, ByteOrder order)
            throws BpfInputException {
        boolean text = bytes.length > 0;
        for (byte b : bytes) {
            text &= b >= '0' && b <= '9' || b == ' ' || b == '\n' || b == '\r' || b == ',';
        }
        try {
            return text
                    ? ClassicProgram.parse(ProgramFile.text(from, bytes))
                    : ClassicProgram.decode(bytes, order);
        } catch (ClassicFilterException e) {
            throw new BpfInputException(ProgramFile.name(from) + ": " + e.getMessage());
        }
    }
}
