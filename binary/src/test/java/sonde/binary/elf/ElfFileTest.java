package sonde.binary.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.MalformedInputException;
import sonde.testkit.ElfWriter;

class ElfFileTest {
    private static final byte[] ID = {1, 2, 3, 4, 5, 6, 7, 8};

    private static ElfWriter writer(boolean wide, boolean big) {
        ElfWriter writer =
                new ElfWriter(wide, big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN, 64)
                        .symbol("main", ElfWriter.TEXT_ADDRESS, 16, 0x12)
                        .symbol("label", ElfWriter.TEXT_ADDRESS + 32, 0, 0x00)
                        .buildId(ID);
        ByteBuffer link = writer.buffer(16);
        link.put("a.debug\0".getBytes(StandardCharsets.UTF_8)).putInt(0xcafe1234);
        return writer.section(".gnu_debuglink", 1, 0, Arrays.copyOf(link.array(), 12));
    }

    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void readsEveryClassAndByteOrder(boolean wide, boolean big) throws IOException {
        ElfFile elf = ElfFile.of(writer(wide, big).bytes());
        assertThat(elf.is64()).isEqualTo(wide);
        assertThat(elf.type()).isEqualTo(ElfFile.ET_DYN);
        assertThat(elf.machine()).isEqualTo(ElfFile.EM_X86_64);
        assertThat(elf.entry()).isEqualTo(ElfWriter.TEXT_ADDRESS);
        assertThat(elf.sections())
                .extracting(ElfSection::name)
                .containsExactly(
                        "",
                        ".text",
                        ".note.gnu.build-id",
                        ".gnu_debuglink",
                        ".symtab",
                        ".strtab",
                        ".shstrtab");
        assertThat(elf.segments()).hasSize(1);
        assertThat(elf.segments().getFirst().isCode()).isTrue();
        assertThat(elf.addressOf(ElfWriter.TEXT_OFFSET)).isEqualTo(ElfWriter.TEXT_ADDRESS);
        assertThat(elf.addressOf(0x5000)).isEqualTo(-1);
        assertThat(elf.buildId()).hasValue(ID);
        assertThat(elf.debugLink()).hasValue(new DebugLink("a.debug", 0xcafe1234));
        ElfSymbols symbols = elf.symbols(ElfFile.SHT_SYMTAB).orElseThrow();
        assertThat(symbols.count()).isEqualTo(3);
        assertThat(symbols.name(1)).isEqualTo("main");
        assertThat(symbols.value(1)).isEqualTo(ElfWriter.TEXT_ADDRESS);
        assertThat(symbols.size(1)).isEqualTo(16);
        assertThat(symbols.type(1)).isEqualTo(ElfSymbols.STT_FUNC);
        assertThat(symbols.binding(1)).isEqualTo(ElfSymbols.STB_GLOBAL);
        assertThat(symbols.section(1)).isEqualTo(1);
        assertThat(symbols.name(2)).isEqualTo("label");
        assertThat(elf.symbols(ElfFile.SHT_DYNSYM)).isEmpty();
    }

    @Test
    void inflatesCompressedSections() throws IOException {
        ElfWriter writer = new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 16);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        // ch_type zlib, reserved, ch_size 1000, ch_addralign
        bytes.writeBytes(writer.buffer(24).putInt(1).putInt(0).putLong(1000).putLong(1).array());
        try (DeflaterOutputStream zlib = new DeflaterOutputStream(bytes)) {
            zlib.write(new byte[1000]);
        }
        writer.section(".debug_info", 1, ElfFile.SHF_COMPRESSED, bytes.toByteArray());
        ElfFile elf = ElfFile.of(writer.bytes());
        ElfSection section = elf.section(".debug_info").orElseThrow();
        assertThat(elf.content(section).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(new byte[1000]);
    }

    @Test
    void refusesWhatIsNoElf() {
        assertThatThrownBy(() -> ElfFile.of(new byte[0]))
                .isInstanceOf(MalformedInputException.class);
        assertThatThrownBy(() -> ElfFile.of(new byte[4096]))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("no ELF magic");
    }

    /** Whatever bits are wrong, the answer is a value or a MalformedInputException. */
    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void survivesFlippedBits(boolean wide, boolean big) {
        byte[] good = writer(wide, big).bytes();
        Random random = new Random(20);
        int refused = 0;
        for (int round = 0; round < 4000; round++) {
            byte[] bad = good.clone();
            for (int i = random.nextInt(4); i >= 0; i--) {
                bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
            }
            int length = random.nextInt(8) == 0 ? random.nextInt(bad.length) : bad.length;
            try {
                readAll(ElfFile.of(Arrays.copyOf(bad, length)));
            } catch (MalformedInputException e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1, 3999);
    }

    private static void readAll(ElfFile elf) throws MalformedInputException {
        assertThat(elf.header().type()).isEqualTo(elf.type());
        readLinker(elf);
        for (ElfSection section : elf.linked().sections()) {
            if (elf.contentBytes(section) < 1 << 20) {
                elf.linked().content(section);
            }
        }
        elf.notes();
        elf.addressOf(0x210);
        elf.debugLink();
        for (ElfSection section : elf.sections()) {
            if (section.sizeBytes() < 1 << 20) {
                elf.content(section);
            }
        }
        for (ElfSection section : elf.sections()) {
            if (section.isRelocations()) {
                elf.relocations(section);
            } else if (section.type() == ElfFile.SHT_RELR) {
                elf.relativeRelocations(section);
            }
        }
        ElfSymbols symbols = elf.symbols(ElfFile.SHT_SYMTAB).orElse(null);
        for (int i = 0; symbols != null && i < symbols.count(); i++) {
            symbols.name(i);
            symbols.section(i);
        }
    }

    private static void readLinker(ElfFile elf) throws MalformedInputException {
        elf.interpreter();
        elf.debugAltLink();
        elf.miniDebugInfo();
        DynamicTable dynamic = elf.dynamic().orElse(null);
        if (dynamic != null) {
            dynamic.entries().forEach(dynamic::text);
            dynamic.needed();
        }
        SymbolVersions versions = elf.versions().orElse(null);
        for (int i = 0; versions != null && i < 10; i++) {
            versions.suffix(i, "", i % 2 == 0);
        }
    }

    /** gABI "Relative Relocation Table": addresses, and bitmaps of the words behind them. */
    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void unpacksRelativeRelocations(boolean wide, boolean big) throws IOException {
        ElfWriter writer = writer(wide, big);
        int word = wide ? 8 : 4;
        ByteBuffer table = writer.buffer(3 * word);
        for (long entry : new long[] {0x1000, 0b1011, 0x9000}) {
            if (wide) {
                table.putLong(entry);
            } else {
                table.putInt((int) entry);
            }
        }
        writer.section(".relr.dyn", ElfFile.SHT_RELR, 2, table.array());
        ElfFile elf = ElfFile.of(writer.bytes());
        assertThat(elf.relativeRelocations(elf.section(".relr.dyn").orElseThrow()))
                .containsExactly(0x1000, 0x1000 + word, 0x1000 + 3 * word, 0x9000);
    }

    /** Differences in symbol, type and addend by flags; the second offset does not fit its byte. */
    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void unpacksCompactRelocations(boolean wide, boolean big) throws IOException {
        // Three entries with addends, offsets in units of two.
        byte[] addends = {
            3 << 3 | 4 | 1, 5 << 3 | 7, 3, 2, 0x7c, (byte) 0x94, 0x11, 0x70, 0x9, 0x7f
        };
        // Two without.
        byte[] none = {2 << 3, 0x10 << 2 | 3, 1, 10, 8 << 2};
        ElfWriter writer = writer(wide, big);
        writer.section(".crel.text", ElfFile.SHT_CREL, 0, addends);
        writer.section(".crel.data", ElfFile.SHT_CREL, 0, none);
        ElfFile elf = ElfFile.of(writer.bytes());
        assertThat(elf.relocations(elf.section(".crel.text").orElseThrow()))
                .containsExactly(
                        new ElfRelocation(10, 2, 3, -4),
                        new ElfRelocation(10 + 2 * (2 + 16 * 0x11), 2, 3, -20),
                        new ElfRelocation(10 + 2 * (2 + 16 * 0x11 + 1), 2, 2, -20));
        ElfSection data = elf.section(".crel.data").orElseThrow();
        assertThat(elf.relocationTable(data).hasAddends()).isFalse();
        assertThat(elf.relocations(data))
                .containsExactly(new ElfRelocation(16, 10, 1, 0), new ElfRelocation(24, 10, 1, 0));
        ElfWriter cut = writer(wide, big);
        cut.section(".crel.text", ElfFile.SHT_CREL, 0, Arrays.copyOf(addends, 9));
        cut.section(".crel.data", ElfFile.SHT_CREL, 0, new byte[] {-1, -1, -1, -1, 15, 0});
        ElfFile lies = ElfFile.of(cut.bytes());
        for (String name : new String[] {".crel.text", ".crel.data"}) {
            ElfSection table = lies.section(name).orElseThrow();
            assertThatThrownBy(() -> lies.relocations(table))
                    .isInstanceOf(MalformedInputException.class)
                    .hasMessageContaining("SHT_CREL");
        }
    }

    @Test
    void aTableOutsideOfTheFileDoesNotHideTheOther() throws IOException {
        byte[] whole = writer(true, false).bytes();
        byte[] cut = Arrays.copyOf(whole, whole.length - 64);
        ElfFile elf = ElfFile.of(cut);
        assertThat(elf.sections()).isEmpty();
        assertThat(elf.segments()).hasSize(1);
        assertThat(elf.problems()).singleElement().asString().startsWith("section header table");
        assertThat(elf.isCut()).isTrue();
        assertThat(elf.cut())
                .isEqualTo(
                        "is cut off: its headers name "
                                + whole.length
                                + " bytes, of which "
                                + cut.length
                                + " are here");
        assertThat(ElfFile.of(whole).isCut()).isFalse();
        byte[] lying = whole.clone();
        ByteBuffer.wrap(lying).order(ByteOrder.LITTLE_ENDIAN).putLong(32, Long.MAX_VALUE - 5);
        assertThat(ElfFile.of(lying).problems()).hasSize(1);
    }

    /** What is compressed is bounded by what comes out of it. */
    @Test
    void symbolsThatGrowAreBounded() throws IOException {
        ElfWriter writer = writer(true, false);
        byte[] packed =
                writer.buffer(1 << 16).putInt(2).putInt(0).putLong(2L << 30).putLong(1).array();
        writer.section(".strings", ElfFile.SHT_STRTAB, ElfFile.SHF_COMPRESSED, packed);
        byte[] file = writer.bytes();
        ElfFile elf = ElfFile.of(file);
        ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        for (ElfSection section : elf.sections()) {
            if (section.type() == ElfFile.SHT_SYMTAB) {
                int link = (int) bytes.getLong(40) + 64 * section.index() + 40; // sh_link
                bytes.putInt(link, elf.section(".strings").orElseThrow().index());
            }
        }
        assertThatThrownBy(() -> ElfFile.of(file).symbols(ElfFile.SHT_SYMTAB))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining(".strings")
                .hasMessageContaining("2147483648 bytes")
                .hasMessageNotContaining("compression"); // nothing was unpacked
    }

    @Test
    void sizesThatCannotBeAreNotTried() throws IOException {
        ElfWriter writer = new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 16);
        for (int type = 1; type <= 2; type++) {
            byte[] head =
                    writer.buffer(40).putInt(type).putInt(0).putLong(1L << 40).putLong(1).array();
            writer.section(".debug_" + type, 1, ElfFile.SHF_COMPRESSED, head);
        }
        ElfFile elf = ElfFile.of(writer.bytes());
        for (int type = 1; type <= 2; type++) {
            ElfSection section = elf.section(".debug_" + type).orElseThrow();
            assertThat(elf.contentBytes(section)).isEqualTo(1L << 40);
            assertThatThrownBy(() -> elf.content(section))
                    .isInstanceOf(MalformedInputException.class)
                    .hasMessageContaining("1099511627776 bytes out of 40");
        }
    }
}
