package sonde.bpf.insn;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.bpf.insn.Instruction.CallHelperFunction;
import sonde.bpf.insn.Instruction.ConstantMeaning;

/**
 * LLVM's disassembler, which knows nothing of ours, reads the same from the same bytes. Its
 * notation differs: decimals in comparisons, {@code ll} behind wide constants, {@code goto +3}, a
 * blank after the sign of offsets, calls by number alone. LLVM 14 has no text for stores of
 * constants, bit tests, remainders, and none of the atomic or v4 instructions that is the kernel's.
 */
final class LlvmTextTest {
    private static final Path LLVM = Path.of("/usr/bin/llvm-mc");
    private static final Pattern HEX = Pattern.compile("0x([0-9a-f]+)");

    @TempDir Path folder;

    @Test
    void llvmReadsTheSame() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(LLVM), "no llvm-mc");
        List<Instruction> program =
                RandomWords.instructions(new Random(14), 60_000).stream()
                        .filter(LlvmTextTest::isKnown)
                        .toList();
        StringBuilder digits = new StringBuilder();
        for (Instruction instruction : program) {
            long[] words = InstructionEncoding.encode(List.of(instruction));
            for (byte b : InstructionEncoding.bytes(words, ByteOrder.LITTLE_ENDIAN)) {
                digits.append("0x%02x ".formatted(b));
            }
            digits.append('\n');
        }
        Path file = folder.resolve("program.hex");
        Files.writeString(file, digits);
        Process process =
                new ProcessBuilder(
                                LLVM.toString(),
                                "-triple=bpfel",
                                "-mcpu=v3",
                                "-disassemble",
                                file.toString())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        List<String> theirs =
                out.lines().map(String::strip).filter(line -> !line.startsWith(".text")).toList();
        List<String> ours = new ArrayList<>();
        program.forEach(i -> ours.add(asLlvm(i)));
        assertThat(ours.size()).isGreaterThan(2_000);
        assertThat(theirs).hasSameSizeAs(ours);
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < ours.size(); i++) {
            if (!ours.get(i).equals(theirs.get(i))) {
                differences.add(ours.get(i) + " | " + theirs.get(i));
            }
        }
        assertThat(differences).isEmpty();
    }

    private static boolean isKnown(Instruction instruction) {
        return switch (instruction) {
            case Instruction.Alu i ->
                    i.operation().variant() == 0 && i.operation() != AluOperation.REMAINDER;
            case Instruction.Negate _,
                    Instruction.Load _,
                    Instruction.LoadPacket _,
                    Instruction.Goto _,
                    Instruction.Exit _ ->
                    true;
            case Instruction.ByteSwap i -> i.change() != Instruction.ByteOrderChange.SWAP;
            case Instruction.Store i -> i.from() instanceof BpfRegister;
            case Instruction.Branch i -> i.condition() != JumpCondition.ANY_BIT;
            case Instruction.LoadWide i -> i.meaning() == ConstantMeaning.NUMBER;
            case CallHelperFunction i -> i.helper() >= 0;
            default -> false;
        };
    }

    private static String asLlvm(Instruction instruction) {
        String text = Disassembler.text(instruction);
        return switch (instruction) {
            case Instruction.LoadWide i -> text.replaceAll("0x.*", i.value() + " ll");
            case CallHelperFunction i -> "call " + i.helper();
            case Instruction.Branch _ -> signs(decimal(text).replace("goto pc", "goto "));
            case Instruction.Goto _ -> text.replace("goto pc", "goto ");
            default -> signs(text);
        };
    }

    private static String decimal(String text) {
        Matcher matcher = HEX.matcher(text);
        return matcher.replaceFirst(
                found -> Integer.toString(Integer.parseUnsignedInt(found.group(1), 16)));
    }

    private static String signs(String text) {
        return text.replaceAll("\\((r\\d+) ([+-])(\\d+)\\)", "($1 $2 $3)");
    }
}
