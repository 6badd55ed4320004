package sonde.tools.bpf;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.AssemblyException;
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.insn.InvalidInstructionException;
import sonde.bpf.insn.ProgramCode;

/** Programs as files hold them: text, bytes, digits. */
public final class ProgramFile {
    /** A million slots as text, the longest that any kernel takes. */
    private static final int MOST_BYTES = 64 << 20;

    private ProgramFile() {}

    /** A file's bytes; {@code -} is standard input. */
    public static byte[] read(Path file) throws IOException {
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
    public static boolean isElf(Path file) throws IOException {
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
    public static ProgramCode assemble(Path file) throws IOException {
        try {
            return Assembler.assemble(text(file, read(file)));
        } catch (AssemblyException e) {
            throw wrong(file, e);
        }
    }

    /** A line that is not an instruction. */
    static BpfInputException wrong(Path file, AssemblyException e) {
        String hint = e.hint().isEmpty() ? "" : "; " + e.hint();
        return new BpfInputException(
                "%s:%d:%d: %s%s".formatted(name(file), e.line(), e.column(), e.problem(), hint));
    }

    public static String name(Path file) {
        return file.toString().equals("-") ? "standard input" : file.toString();
    }

    static String text(Path file, byte[] bytes) throws BpfInputException {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw new BpfInputException(name(file) + " is not a text; 'disasm' reads instructions");
        }
    }

    /** Instructions from bytes, or from their hexadecimal digits. */
    static long[] words(Path file, byte[] bytes, ByteOrder order) throws BpfInputException {
        try {
            return InstructionEncoding.words(isDigits(bytes) ? digits(bytes) : bytes, order);
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
}
