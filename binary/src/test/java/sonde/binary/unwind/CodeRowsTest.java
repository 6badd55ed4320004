package sonde.binary.unwind;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;

/** Rules made from instructions alone against those that the compiler wrote for the same code. */
final class CodeRowsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {"bin/bash", "bin/git", "lib/x86_64-linux-gnu/libsqlite3.so.0", "bin/perl"})
    void rulesOfInstructionsAreThoseOfTheCompiler(String name) throws Exception {
        Path path = Path.of("/usr", name);
        Assumptions.assumeTrue(Files.exists(path), "needs " + path);
        ElfFile elf = ElfFile.of(Files.readAllBytes(path));
        CompactUnwindTable stated = CompactUnwindTable.of(elf).orElseThrow();
        ElfSection text = elf.section(".text").orElseThrow();
        byte[] code = elf.content(text).toArray(ValueLayout.JAVA_BYTE);
        ElfSection constants = elf.section(".rodata").orElseThrow();
        byte[] tables = elf.content(constants).toArray(ValueLayout.JAVA_BYTE);
        TreeMap<Integer, Integer> rows = new TreeMap<>();
        new CodeRows(
                        code,
                        text.address(),
                        0,
                        code.length,
                        at -> {
                            long inside = at - constants.address();
                            return inside < 0 || inside + 4 > tables.length
                                    ? Long.MIN_VALUE
                                    : (tables[(int) inside] & 0xff)
                                            | (tables[(int) inside + 1] & 0xff) << 8
                                            | (tables[(int) inside + 2] & 0xff) << 16
                                            | tables[(int) inside + 3] << 24;
                        })
                .write(rows::put);
        X86Length in = new X86Length(code);
        int same = 0;
        int compared = 0;
        for (int at = 0; at < code.length && in.read(at); at = in.next) {
            int theirs = stated.find(text.offset() + at);
            boolean plain =
                    CompactRule.kind(theirs) == CompactRule.Kind.RSP
                            || CompactRule.kind(theirs) == CompactRule.Kind.RBP;
            if (plain && in.opcode != (X86Length.TWO | 0x1f) && in.opcode != 0x90) {
                compared++;
                int ours = rows.floorEntry(at).getValue();
                same += agree(ours, theirs) ? 1 : 0;
            }
        }
        assertThat(compared).isGreaterThan(100_000);
        assertThat((double) same / compared).isGreaterThan(0.96);
    }

    /** Compilers do not tell that the saved register has its old value again. */
    private static boolean agree(int ours, int theirs) {
        int saved = CompactRule.SAVED_MASK;
        int rbp = ours >>> CompactRule.RBP_SHIFT & saved;
        int rbx = ours >>> CompactRule.RBX_SHIFT & saved;
        return (ours & 15) == (theirs & 15)
                && ours >>> CompactRule.OFFSET_SHIFT == theirs >>> CompactRule.OFFSET_SHIFT
                && (rbp == 0 || rbp == (theirs >>> CompactRule.RBP_SHIFT & saved))
                && (rbx == 0 || rbx == (theirs >>> CompactRule.RBX_SHIFT & saved));
    }

    /** Bytes that are no code: the rules are wrong, and the work is bounded. */
    @Test
    void anyBytesAreRead() {
        Random random = new Random(11);
        for (int i = 0; i < 300; i++) {
            byte[] code = new byte[1 + random.nextInt(4000)];
            random.nextBytes(code);
            int[] last = {-1};
            new CodeRows(
                            code,
                            random.nextLong(),
                            0,
                            code.length,
                            at -> random.nextBoolean() ? random.nextInt() : Long.MIN_VALUE)
                    .write((at, rule) -> {
                        assertThat(at).isBetween(last[0] + 1, code.length);
                        last[0] = at;
                    });
            assertThat(last[0]).isEqualTo(code.length);
        }
    }
}
