package sonde.binary.dwarf.location;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.testkit.ElfWriter;
import sonde.testkit.Property;

/** Line programs, written byte by byte. */
final class LineSearchTest {
    private static final long START = 0x1200;

    /** Ends the header's length and the unit's, which are known last. */
    private static byte[] unit(int version, byte[] tables, byte[] program) {
        ByteBuffer out = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(0).putShort((short) version);
        if (version >= 5) {
            // address_size, segment_selector_size
            out.put((byte) 8).put((byte) 0);
        }
        int length = out.position();
        out.putInt(0);
        // minimum_instruction_length, (maximum_operations), default_is_stmt
        out.put((byte) 1);
        if (version >= 4) {
            out.put((byte) 1);
        }
        // line_base -5, line_range 14, opcode_base 13, operands of opcodes 1 to 12
        out.put((byte) 1).put((byte) -5).put((byte) 14).put((byte) 13);
        out.put(new byte[] {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1});
        out.put(tables);
        out.putInt(length, out.position() - length - 4);
        out.put(program);
        out.putInt(0, out.position() - 4);
        return Arrays.copyOf(out.array(), out.position());
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Folder 1 {@code src}; file 1 {@code a.c} in it, file 2 {@code b.h} in folder 0. */
    private static final byte[] OLD = text("src\0\0a.c\0\1\0\0b.h\0\0\0\0\0");

    /** Folders by DW_FORM_string; files by DW_FORM_line_strp and DW_FORM_udata, with a checksum. */
    private static byte[] newTables() {
        ByteBuffer out = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
        out.put(new byte[] {1, 1, 8, 2}).put(text("/work\0src\0"));
        out.put(new byte[] {3, 1, 0x1f, 2, 0x0f, 5, 0x1e, 2});
        out.putInt(0).put((byte) 1).put(new byte[16]);
        out.putInt(4).put((byte) 0).put(new byte[16]);
        return Arrays.copyOf(out.array(), out.position());
    }

    private static byte[] program(int firstFile) {
        return program(firstFile, START);
    }

    private static byte[] program(int firstFile, long start) {
        ByteBuffer out = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        // DW_LNE_set_address
        out.put(new byte[] {0, 9, 2}).putLong(start);
        // set_file, advance_line +9 (line 10), set_column 5, copy
        out.put(new byte[] {4, (byte) firstFile, 3, 9, 5, 5, 1});
        // special: address +2, line +1 = 13 + 2 * 14 + (1 + 5)
        out.put((byte) (13 + 28 + 6));
        // the other file, line 11 too, at +4: set_file, advance_pc 2, copy
        out.put(new byte[] {4, (byte) (firstFile + 1), 2, 2, 1});
        // const_add_pc: (255 - 13) / 14 = 17; advance_line -1 (line 10), copy, end_sequence
        out.put(new byte[] {4, (byte) firstFile, 8, 3, 0x7f, 5, 9, 1, 0, 1, 1});
        return Arrays.copyOf(out.array(), out.position());
    }

    private static byte[] file(byte[] lines) {
        return new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 64)
                .section(".debug_line", 1, 0, lines)
                .section(".debug_line_str", 1, 0, text("a.c\0b.h\0"))
                .bytes();
    }

    private static OptionalLong find(byte[] file, String name, int line, int column)
            throws Exception {
        return LineSearch.find(ElfFile.of(file), name, line, column).address();
    }

    @Test
    void versionsTwoToFive() throws Exception {
        for (int version = 2; version <= 5; version++) {
            boolean old = version < 5;
            byte[] lines = unit(version, old ? OLD : newTables(), program(old ? 1 : 0));
            byte[] file = file(lines);
            assertThat(find(file, "a.c", 10, 0)).hasValue(START);
            assertThat(find(file, "src/a.c", 10, 5)).hasValue(START);
            assertThat(find(file, "/work/src/a.c", 10, 9)).hasValue(START + 4 + 17);
            assertThat(find(file, "a.c", 11, 0)).hasValue(START + 2);
            assertThat(find(file, "b.h", 11, 0)).hasValue(START + 4);
            assertThat(find(file, "b.h", 10, 0)).isEmpty();
            assertThat(LineSearch.find(ElfFile.of(file), "c.c", 1, 0))
                    .isEqualTo(new LineSearch.Answer(true, false, OptionalLong.empty()));
            assertThat(LineSearch.find(ElfFile.of(file), ".c", 10, 0).hasFile()).isFalse();
        }
    }

    /** Linkers leave the rows of code that they drop, from 0 or from -1 on. */
    @Test
    void codeThatWasLeftOutHasNoLines() throws Exception {
        for (long start : new long[] {0, -1}) {
            byte[] dropped = program(1, start);
            byte[] kept = program(1);
            byte[] both = Arrays.copyOf(dropped, dropped.length + kept.length);
            System.arraycopy(kept, 0, both, dropped.length, kept.length);
            assertThat(find(file(unit(4, OLD, both)), "a.c", 11, 0)).hasValue(START + 2);
            assertThat(find(file(unit(4, OLD, dropped)), "a.c", 11, 0)).isEmpty();
        }
    }

    @Test
    void unitsBehindOthers() throws Exception {
        byte[] other = unit(9, new byte[0], new byte[0]);
        byte[] wanted = unit(4, OLD, program(1));
        byte[] both = Arrays.copyOf(other, other.length + wanted.length);
        System.arraycopy(wanted, 0, both, other.length, wanted.length);
        assertThat(find(file(both), "a.c", 10, 0)).hasValue(START);
    }

    @Test
    void filesWithoutLines() throws Exception {
        byte[] file = new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 64).bytes();
        assertThat(LineSearch.find(ElfFile.of(file), "a.c", 1, 0).hasLines()).isFalse();
    }

    @Test
    void damagedOnes() {
        byte[] fine = file(unit(5, newTables(), program(0)));
        Property.forAll(
                3,
                3_000,
                random -> {
                    byte[] bytes = fine.clone();
                    for (int i = random.nextInt(1, 10); i > 0; i--) {
                        bytes[random.nextInt(bytes.length)] =
                                random.nextBoolean() ? (byte) random.nextInt() : (byte) -1;
                    }
                    try {
                        assertThat(find(bytes, "a.c", 10, 0)).isNotNull();
                    } catch (MalformedInputException e) {
                        assertThat(e.getMessage()).isNotEmpty();
                    }
                });
    }
}
