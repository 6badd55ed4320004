package sonde.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.AssemblyException;
import sonde.bpf.insn.Code;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.Encoding;
import sonde.bpf.insn.InvalidInstructionException;
import sonde.format.JsonString;

/** Programs as files hold them: text, bytes, digits. */
final class BpfWords {
    /** A million slots as text, the longest that any kernel takes. */
    private static final int MOST_BYTES = 64 << 20;

    /** Forms that instructions are written in. */
    enum Form {
        /** Two hexadecimal digits a byte, an instruction a line. */
        HEX,
        /** The bytes. */
        RAW,
        /** An initialiser of an array of struct bpf_insn. */
        C,
        /** An array of objects. */
        JSON;

        /** By its name in small letters; null when there is none. */
        static @Nullable Form named(String name) {
            for (Form form : values()) {
                if (form.name().toLowerCase(Locale.ROOT).equals(name)) {
                    return form;
                }
            }
            return null;
        }
    }

    private BpfWords() {}

    /** A file's bytes; {@code -} is standard input. */
    static byte[] read(Path file) throws IOException {
        try (InputStream in =
                file.toString().equals("-") ? System.in : Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw new BpfInputException(file + ": more than 64 MiB are no program");
            }
            return bytes;
        }
    }

    /** Whether a file is an object of a compiler; standard input is not asked. */
    static boolean isElf(Path file) throws IOException {
        if (file.toString().equals("-")) {
            return false;
        }
        try (InputStream in = Files.newInputStream(file)) {
            return isElf(in.readNBytes(4));
        }
    }

    /** Whether bytes begin as an ELF file does. */
    static boolean isElf(byte[] bytes) {
        return bytes.length >= 4
                && bytes[0] == 0x7f
                && bytes[1] == 'E'
                && bytes[2] == 'L'
                && bytes[3] == 'F';
    }

    /** Assembles a file, naming it where a line is wrong. */
    static Code assemble(Path file) throws IOException {
        try {
            return Assembler.assemble(text(file, read(file)));
        } catch (AssemblyException e) {
            throw wrong(file, e);
        }
    }

    /** A line that is no instruction. */
    static BpfInputException wrong(Path file, AssemblyException e) {
        String hint = e.hint().isEmpty() ? "" : "; " + e.hint();
        return new BpfInputException(
                "%s:%d:%d: %s%s".formatted(name(file), e.line(), e.column(), e.problem(), hint));
    }

    static String name(Path file) {
        return file.toString().equals("-") ? "standard input" : file.toString();
    }

    static String text(Path file, byte[] bytes) throws BpfInputException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(java.nio.ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new BpfInputException(name(file) + " is no text; 'disasm' reads instructions");
        }
    }

    /** Instructions from bytes, or from their hexadecimal digits. */
    static long[] words(Path file, byte[] bytes, ByteOrder order) throws BpfInputException {
        try {
            return Encoding.words(isDigits(bytes) ? digits(bytes) : bytes, order);
        } catch (InvalidInstructionException | IllegalArgumentException e) {
            throw new BpfInputException(name(file) + ": " + e.getMessage());
        }
    }

    /** Whether there is nothing but hexadecimal digits, {@code 0x}, blanks and commas. */
    private static boolean isDigits(byte[] bytes) {
        for (byte b : bytes) {
            boolean digit = b >= 0 && Character.digit(b, 16) >= 0;
            if (!digit && b != ' ' && b != '\n' && b != '\r' && b != '\t' && b != ',' && b != 'x') {
                return false;
            }
        }
        return bytes.length > 0;
    }

    private static byte[] digits(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.US_ASCII);
        return HexFormat.of().parseHex(text.replaceAll("0x|[\\s,]", ""));
    }

    /** A program in a form that is text. */
    static String format(Code code, Form form, ByteOrder order) {
        long[] words = code.words();
        StringBuilder out = new StringBuilder();
        switch (form) {
            case HEX, RAW -> {
                for (long word : words) {
                    byte[] bytes = Encoding.bytes(new long[] {word}, order);
                    out.append(HexFormat.ofDelimiter(" ").formatHex(bytes)).append('\n');
                }
            }
            case C -> initialiser(out, words);
            case JSON -> json(out, words, Disassembler.lines(words));
        }
        return out.toString();
    }

    private static void initialiser(StringBuilder out, long[] words) {
        out.append("struct bpf_insn program[] = {\n");
        for (long word : words) {
            out.append(
                    "    { .code = 0x%02x, .dst_reg = %d, .src_reg = %d, .off = %d, .imm = %d },\n"
                            .formatted(
                                    word & 0xff,
                                    word >> 8 & 0xf,
                                    word >> 12 & 0xf,
                                    (short) (word >> 16),
                                    (int) (word >> 32)));
        }
        out.append("};\n");
    }

    /** As {@code bpftool -j prog dump xlated}, with the slot and the words added. */
    static void json(StringBuilder out, long[] words, List<String> lines) {
        array(out, words, lines);
        out.append('\n');
    }

    /** The same within something else. */
    static void array(StringBuilder out, long[] words, List<String> lines) {
        out.append('[');
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            int colon = line.indexOf(':');
            int slot = Integer.parseInt(line.substring(0, colon));
            out.append(i == 0 ? "\n  " : ",\n  ").append("{\"slot\": ").append(slot);
            JsonString.append(out.append(", \"disasm\": "), line.substring(colon + 2));
            int slots = next(lines, i, words.length) - slot;
            out.append(", \"words\": [");
            for (int k = 0; k < slots; k++) {
                out.append(k == 0 ? "" : ", ").append("\"%016x\"".formatted(words[slot + k]));
            }
            out.append("]}");
        }
        out.append("\n]");
    }

    private static int next(List<String> lines, int at, int end) {
        if (at + 1 == lines.size()) {
            return end;
        }
        String line = lines.get(at + 1);
        return Integer.parseInt(line.substring(0, line.indexOf(':')));
    }
}
