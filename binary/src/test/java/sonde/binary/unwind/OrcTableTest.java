package sonde.binary.unwind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.unwind.OrcEntry.OrcRegister;
import sonde.binary.unwind.OrcEntry.OrcType;
import sonde.binary.unwind.OrcTable.OrcLayout;
import sonde.testkit.Bytes;
import sonde.testkit.ElfWriter;

/** Entries of every layout. */
final class OrcTableTest {
    private static final long ADDRESS = 0xffffffff82000000L;

    private static byte[] offsets(long... places) {
        Bytes out = new Bytes(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < places.length; i++) {
            out.u32(places[i] - (ADDRESS + 4L * i));
        }
        return out.toBytes();
    }

    private static byte[] entry(int stackOffset, int frameOffset, int flags) {
        return new Bytes(ByteOrder.LITTLE_ENDIAN)
                .u16(stackOffset)
                .u16(frameOffset)
                .u16(flags)
                .toBytes();
    }

    private static OrcEntry only(OrcLayout layout, int flags) throws Exception {
        OrcTable table = new OrcTable(layout, ADDRESS, offsets(-4096), entry(16, -16, flags));
        OrcEntry found = table.find(-4000);
        assertThat(found).isNotNull();
        return found;
    }

    @Test
    void layouts() throws Exception {
        // sp_reg SP 5, bp_reg PREV_SP 1; type CALL is 0 before 6.4, 2 since
        OrcEntry call =
                new OrcEntry(OrcRegister.SP, 16, OrcRegister.PREV_SP, -16, OrcType.CALL, false);
        assertThat(only(OrcLayout.LINUX_4_14, 0x015)).isEqualTo(call);
        assertThat(only(OrcLayout.LINUX_6_3, 0x015)).isEqualTo(call);
        assertThat(only(OrcLayout.LINUX_6_4, 0x215)).isEqualTo(call);
        assertThat(only(OrcLayout.LINUX_7_1, 0x283)).isEqualTo(call);
        assertThat(only(OrcLayout.LINUX_4_14, 0x115).isSignal()).as("registers").isTrue();
        assertThat(only(OrcLayout.LINUX_6_3, 0x515))
                .isEqualTo(
                        new OrcEntry(
                                OrcRegister.SP, 16, OrcRegister.PREV_SP, -16, OrcType.REGS, true));
        assertThat(only(OrcLayout.LINUX_6_4, 0xc15).type()).isEqualTo(OrcType.REGS_PARTIAL);
        assertThat(only(OrcLayout.LINUX_6_4, 0xc15).isSignal()).isTrue();
        assertThat(only(OrcLayout.LINUX_4_14, 0x400).type()).isEqualTo(OrcType.END_OF_STACK);
        assertThat(only(OrcLayout.LINUX_6_3, 0x800).type()).isEqualTo(OrcType.END_OF_STACK);
        assertThat(only(OrcLayout.LINUX_6_4, 0x100).type()).isEqualTo(OrcType.END_OF_STACK);
        assertThat(only(OrcLayout.LINUX_4_14, 0).type()).isEqualTo(OrcType.UNDEFINED);
        assertThat(only(OrcLayout.LINUX_6_4_AX, 0x21a).stack()).isEqualTo(OrcRegister.AX);
    }

    @Test
    void layoutsByHashAndRelease() {
        byte[] hash = HexFormat.of().parseHex("137c36ad7627c4dd55932176bb0ecdbd5041fc82");
        assertThat(OrcLayout.ofHeader(hash)).contains(OrcLayout.LINUX_7_1);
        assertThat(OrcLayout.ofHeader(new byte[20])).isEmpty();
        assertThat(OrcLayout.ofHeader(new byte[0])).isNotEqualTo(OrcLayout.ofHeader(hash));
        assertThat(OrcLayout.ofRelease("6.1.0-56-amd64")).isEqualTo(OrcLayout.LINUX_4_14);
        assertThat(OrcLayout.ofRelease("6.3.2")).isEqualTo(OrcLayout.LINUX_6_3);
        assertThat(OrcLayout.ofRelease("6.12.100+deb12-amd64")).isEqualTo(OrcLayout.LINUX_6_4);
        assertThat(OrcLayout.ofRelease("7.0")).isEqualTo(OrcLayout.LINUX_6_4);
        assertThat(OrcLayout.ofRelease("7.1.0-rc1")).isEqualTo(OrcLayout.LINUX_7_1);
        assertThat(OrcLayout.ofRelease("none")).isEqualTo(OrcLayout.LINUX_4_14);
    }

    @Test
    void placesAreFound() throws Exception {
        byte[] entries =
                new Bytes(ByteOrder.LITTLE_ENDIAN)
                        .raw(entry(8, 0, 0x205))
                        .raw(entry(16, 0, 0x205))
                        .raw(entry(0, 0, 0))
                        .raw(entry(24, 0, 0x205))
                        .toBytes();
        byte[] places = offsets(ADDRESS - 100, ADDRESS - 90, ADDRESS - 50, ADDRESS - 40);
        OrcTable table = new OrcTable(OrcLayout.LINUX_6_4, ADDRESS, places, entries);
        assertThat(table.find(ADDRESS - 101)).isNull();
        assertThat(table.find(ADDRESS - 91)).extracting(OrcEntry::stackOffset).isEqualTo(8);
        assertThat(table.find(ADDRESS - 90)).extracting(OrcEntry::stackOffset).isEqualTo(16);
        assertThat(table.find(ADDRESS - 45))
                .extracting(OrcEntry::type)
                .isEqualTo(OrcType.UNDEFINED);
        assertThat(table.find(ADDRESS - 1)).extracting(OrcEntry::stackOffset).isEqualTo(24);
    }

    @Test
    void sectionsOfAFile() throws Exception {
        byte[] hash = HexFormat.of().parseHex("fe5d32bf581bd63b2ca9a5c65ba5a625eab3fe24");
        byte[] file =
                new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 16)
                        .section(".orc_unwind_ip", 1, 2, ADDRESS, offsets(ADDRESS - 100))
                        .section(".orc_unwind", 1, 2, entry(8, 0, 0x205))
                        .section(".orc_header", 1, 2, hash)
                        .bytes();
        OrcTable table = OrcTable.of(ElfFile.of(file), "").orElseThrow();
        assertThat(table.find(ADDRESS - 50)).extracting(OrcEntry::type).isEqualTo(OrcType.CALL);
        byte[] wrong =
                new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 16)
                        .section(".orc_unwind_ip", 1, 2, ADDRESS, offsets(0, 0))
                        .section(".orc_unwind", 1, 2, entry(8, 0, 0x205))
                        .bytes();
        assertThatThrownBy(() -> OrcTable.of(ElfFile.of(wrong), "6.12"))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining(".orc_unwind");
    }
}
