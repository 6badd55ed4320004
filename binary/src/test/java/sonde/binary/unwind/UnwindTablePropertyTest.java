package sonde.binary.unwind;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.binary.unwind.CfiBytes.bytes;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.testkit.Property;

/** Damaged and made-up sections: rules or none, never an exception, never without end. */
final class UnwindTablePropertyTest {
    private static final UnwindMemory NOTHING =
            new UnwindMemory() {
                @Override
                public boolean has(long address, int sizeBytes) {
                    return (address & 8) == 0;
                }

                @Override
                public long read(long address, int sizeBytes) {
                    return address * 31;
                }
            };

    private static final byte[] GOOD =
            CfiBytes.usual(
                    bytes(
                            0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x50, 0xc6, 0x0c, 7, 8,
                            0x41, 0x0b, 0x10, 3, 2, 0x70, 0, 0x0f, 4, 0x77, 8, 0x2f, 0xfd));

    private static void read(byte[] file, RandomGenerator random) {
        try {
            UnwindTable table = UnwindTable.of(ElfFile.of(file)).orElse(null);
            if (table == null) {
                return;
            }
            UnwindMachine machine = table.machine();
            FrameStepper stepper = new FrameStepper(machine);
            RegisterValues from = new RegisterValues(machine);
            RegisterValues to = new RegisterValues(machine);
            for (int i = 0; i < 64; i++) {
                for (int column = 0; column < machine.columns(); column++) {
                    from.set(column, random.nextLong());
                }
                long address = i < 48 ? 0x11f0 + 8L * i : CfiBytes.ADDRESS + i;
                FrameRule rule = table.find(address);
                if (rule != null) {
                    assertThat(stepper.step(rule, from, to, NOTHING)).isNotNull();
                    assertThat(rule.toString()).startsWith("cfa=");
                }
            }
            assertThat(table.notes()).hasSizeLessThan(64);
            CompactUnwindTable.of(ElfFile.of(file))
                    .ifPresent(rows -> assertThat(rows.rows()).isLessThan(4 * file.length));
        } catch (MalformedInputException e) {
            assertThat(e).hasMessageContaining("ELF");
        }
    }

    @Test
    void flippedAndCut() {
        List<String> names = List.of(".eh_frame", ".debug_frame", ".sframe", ".plt");
        Property.forAll(
                20_261_121,
                3000,
                random -> {
                    byte[] section = GOOD.clone();
                    for (int i = random.nextInt(6); i > 0; i--) {
                        section[random.nextInt(section.length)] = (byte) random.nextInt();
                    }
                    int length =
                            random.nextInt(4) > 0 ? section.length : random.nextInt(section.length);
                    String name =
                            names.get(random.nextInt(8) < 5 ? 0 : random.nextInt(names.size()));
                    byte[] file = CfiBytes.elf(name, Arrays.copyOf(section, length));
                    file[18] =
                            (byte)
                                    List.of(62, 62, 183, 3, 40, 243)
                                            .get(random.nextInt(6))
                                            .intValue();
                    read(file, random);
                });
    }

    /** Instructions at random behind a CIE that is right. */
    @Test
    void anyInstructions() {
        Property.forAll(
                7,
                3000,
                random -> {
                    byte[] instructions = new byte[random.nextInt(1, 100)];
                    random.nextBytes(instructions);
                    read(CfiBytes.elf(".eh_frame", CfiBytes.usual(instructions)), random);
                });
    }

    /** The pass that makes compact rules against the reader that keeps every column. */
    @Test
    void compactRulesAreThoseOfAllColumns() {
        int commonBytes = 4 + GOOD[0];
        Property.forAll(
                13,
                3000,
                random -> {
                    byte[] section = GOOD.clone();
                    for (int i = random.nextInt(9); i > 0; i--) {
                        int at = random.nextInt(commonBytes, section.length);
                        section[at] = (byte) random.nextInt();
                    }
                    UnwindTable table = table(CfiBytes.elf(".eh_frame", section));
                    StringBuilder all = new StringBuilder();
                    int[] last = {0};
                    table.each((name, start, bytes, address, rule) -> {
                        int compact = CompactRule.of(rule);
                        if (address == start || compact != last[0]) {
                            all.append("%x %x,".formatted(address, compact));
                        }
                        last[0] = compact;
                    });
                    assertThat(compact(table)).isEqualTo(all.toString());
                });
    }

    private static UnwindTable table(byte[] file) {
        try {
            return UnwindTable.of(ElfFile.of(file)).orElseThrow();
        } catch (MalformedInputException e) {
            throw new AssertionError(e);
        }
    }

    private static String compact(UnwindTable table) {
        StringBuilder all = new StringBuilder();
        table.compact(
                new CompactCfi.RuleRows() {
                    @Override
                    public long offset(long address) {
                        return address & 0xffff_ffffL;
                    }

                    @Override
                    public void function(long start, long sizeBytes) {}

                    @Override
                    public void row(long address, int rule) {
                        all.append("%x %x,".formatted(address, rule));
                    }
                });
        return all.toString();
    }

    @Test
    void anySFrame() {
        Property.forAll(
                11,
                2000,
                random -> {
                    byte[] section = new byte[random.nextInt(28, 200)];
                    random.nextBytes(section);
                    byte[] start =
                            bytes(0xe2, 0xde, random.nextInt(1, 4), 1, 3, 0, 0xf8, 0, 2, 0, 0, 0);
                    System.arraycopy(start, 0, section, 0, start.length);
                    Arrays.fill(section, 12, 28, (byte) 0);
                    section[16] = (byte) random.nextInt(100);
                    section[24] = (byte) random.nextInt(100);
                    read(CfiBytes.elf(".sframe", section), random);
                });
    }
}
