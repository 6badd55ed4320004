package sonde.tools.bpf;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.AssemblyException;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.insn.InvalidInstructionException;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.verifier.InstructionLines;

/** Programs of a file, ready to be loaded. */
final class NamedPrograms {
    /**
     * One of them.
     *
     * @param sources lines of the text it was assembled from; none where its line_info has them
     */
    record NamedProgram(String name, ProgramSpec spec, InstructionLines sources) {}

    private NamedPrograms() {}

    /**
     * Reads text as {@code asm} does, else instructions; both hold one program.
     *
     * @throws BpfInputException when it is neither
     */
    static List<NamedProgram> read(Path file, ProgramType type) throws IOException {
        byte[] bytes = ProgramFile.read(file);
        String name = name(file);
        List<NamedProgram> programs = new ArrayList<>();
        if (isText(bytes)) {
            String text = ProgramFile.text(file, bytes);
            ProgramCode code = assemble(file, text);
            InstructionLines lines = InstructionLines.of(ProgramFile.name(file), text, code);
            programs.add(new NamedProgram(name, new ProgramSpec(name, type, code), lines));
        } else {
            ProgramCode code =
                    decode(file, ProgramFile.words(file, bytes, ByteOrder.nativeOrder()));
            programs.add(
                    new NamedProgram(
                            name, new ProgramSpec(name, type, code), InstructionLines.NONE));
        }
        return programs;
    }

    private static ProgramCode assemble(Path file, String text) throws BpfInputException {
        try {
            return Assembler.assemble(text);
        } catch (AssemblyException e) {
            throw ProgramFile.wrong(file, e);
        }
    }

    private static ProgramCode decode(Path file, long[] words) throws BpfInputException {
        try {
            CodeBuilder code = new CodeBuilder();
            InstructionEncoding.decodeAll(words).forEach(code::add);
            return code.build();
        } catch (InvalidInstructionException e) {
            throw new BpfInputException(ProgramFile.name(file) + ": " + e.getMessage());
        }
    }

    /** Text has no NUL; instructions have many. Digits alone are instructions. */
    private static boolean isText(byte[] bytes) {
        boolean digits = true;
        for (byte b : bytes) {
            if (b == 0) {
                return false;
            }
            digits &=
                    Character.digit(b, 16) >= 0
                            || b == ' '
                            || b == '\n'
                            || b == '\r'
                            || b == '\t'
                            || b == ','
                            || b == 'x';
        }
        return !digits;
    }

    /** The file's name without folder and ending, as the kernel takes names. */
    private static String name(Path file) {
        if (file.toString().equals("-")) {
            return "stdin";
        }
        String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
        int dot = name.indexOf('.');
        String plain = (dot > 0 ? name.substring(0, dot) : name).replaceAll("[^a-z0-9_.]", "_");
        return plain.substring(0, Math.min(15, plain.length()));
    }
}
