package sonde.bpf.insn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** How fast words become text: bar 5 million instructions a second, one core. */
@Tag("bench")
final class DisassemblerBenchTest {
    @Test
    void wordsBecomeText(TestReporter reporter) {
        long[] words = InstructionEncoding.encode(RandomWords.instructions(new Random(1), 200_000));
        int count = InstructionEncoding.decode(words).size();
        StringBuilder out = new StringBuilder(64);
        double best = 0;
        for (int pass = 0; pass < 150; pass++) {
            long start = System.nanoTime();
            long characters = 0;
            int slot = 0;
            while (slot < words.length) {
                Instruction instruction = InstructionDecoder.at(words, slot);
                out.setLength(0);
                characters +=
                        Disassembler.append(out, instruction, ListingSymbols.NUMBERS).length();
                slot += instruction.slots();
            }
            double rate = count / ((System.nanoTime() - start) / 1e9) / 1e6;
            best = Math.max(best, rate);
            assertThat(characters).isGreaterThan(4L * count);
        }
        reporter.publishEntry("decode + disassemble", "%.1f M instructions/s".formatted(best));
        assertThat(best).isGreaterThan(5);
    }
}
