package sonde.binary.unwind;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.binary.unwind.CfiBytes.ADDRESS;
import static sonde.binary.unwind.CfiBytes.bytes;

import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import sonde.binary.elf.ElfFile;
import sonde.testkit.Bytes;

/** SFrame sections, field by field. */
final class SFrameTest {
    private static final int HEADER_BYTES = 28;

    /** One function at 0x1200 of 0x40 bytes. */
    private static byte[] section(int version, int flags, byte[] function, byte[] rows, int count) {
        return new Bytes(ByteOrder.LITTLE_ENDIAN)
                .u16(0xdee2)
                .u8(version)
                .u8(flags)
                .u8(3) // AMD64
                .u8(0)
                .u8(-8 & 0xff) // return address at CFA - 8
                .u8(0)
                .u32(1)
                .u32(count)
                .u32(rows.length)
                .u32(0)
                .u32(function.length)
                .raw(function)
                .raw(rows)
                .toBytes();
    }

    private static byte[] function2(long start, int info) {
        return new Bytes(ByteOrder.LITTLE_ENDIAN)
                .u32(start)
                .u32(0x40)
                .u32(0)
                .u32(3)
                .u8(info)
                .u8(16)
                .u16(0)
                .toBytes();
    }

    private static UnwindTable table(byte[] section) throws Exception {
        return UnwindTable.of(ElfFile.of(CfiBytes.elf(".sframe", section))).orElseThrow();
    }

    /** rsp + 8; from 1 on rsp + 16 and rbp saved; from 4 on rbp + 16. */
    private static final byte[] ROWS = bytes(0, 0x03, 8, 1, 0x05, 16, 0xf0, 4, 0x04, 16, 0xf0);

    @Test
    void version2() throws Exception {
        UnwindTable table = table(section(2, 1, function2(0x1200 - ADDRESS, 0), ROWS, 3));
        assertThat(table.functions()).isEqualTo(1);
        assertThat(table.find(0x1200)).hasToString("cfa=r7+8 r16=[cfa-8]");
        assertThat(table.find(0x1203)).hasToString("cfa=r7+16 r6=[cfa-16] r16=[cfa-8]");
        assertThat(table.find(0x123f)).hasToString("cfa=r6+16 r6=[cfa-16] r16=[cfa-8]");
        assertThat(table.find(0x1240)).isNull();
    }

    @Test
    void startsThatCountFromTheirOwnPlace() throws Exception {
        long place = ADDRESS + HEADER_BYTES;
        UnwindTable table = table(section(2, 5, function2(0x1200 - place, 0), ROWS, 3));
        assertThat(table.find(0x1201)).hasToString("cfa=r7+16 r6=[cfa-16] r16=[cfa-8]");
    }

    @Test
    void repeatedBlocks() throws Exception {
        byte[] rows = bytes(0, 0x03, 8, 11, 0x03, 16);
        byte[] function = function2(0x1200 - ADDRESS, 0x10);
        function[12] = 2;
        UnwindTable table = table(section(2, 1, function, rows, 2));
        assertThat(table.find(0x1210)).hasToString("cfa=r7+8 r16=[cfa-8]");
        assertThat(table.find(0x121b)).hasToString("cfa=r7+16 r16=[cfa-8]");
    }

    private static byte[] function3(long start) {
        return new Bytes(ByteOrder.LITTLE_ENDIAN).u64(start).u32(0x40).u32(0).toBytes();
    }

    @Test
    void version3() throws Exception {
        byte[] rows =
                new Bytes(ByteOrder.LITTLE_ENDIAN).u16(3).u8(0).u8(0).u8(0).raw(ROWS).toBytes();
        long place = ADDRESS + HEADER_BYTES;
        UnwindTable table = table(section(3, 5, function3(0x1200 - place), rows, 3));
        assertThat(table.find(0x1202)).hasToString("cfa=r7+16 r6=[cfa-16] r16=[cfa-8]");
    }

    @Test
    void flexibleFunctionsOfVersion3() throws Exception {
        // CFA = *(rbp - 8); return address fixed, so its word is 0; rbp at CFA - 16
        byte[] flexible = bytes(0, 0x0b, 0x33, 0xf8, 0, 0x02, 0xf0);
        byte[] outermost = bytes(8, 0x01);
        byte[] rows =
                new Bytes(ByteOrder.LITTLE_ENDIAN)
                        .u16(2)
                        .u8(0x80) // of a signal
                        .u8(1)
                        .u8(0)
                        .raw(flexible)
                        .raw(outermost)
                        .toBytes();
        UnwindTable table = table(section(3, 1, function3(0x1200 - ADDRESS), rows, 2));
        assertThat(table.find(0x1200)).hasToString("cfa=expr(4) r6=[cfa-16] r16=[cfa-8] signal");
        assertThat(table.find(0x1208)).hasToString("cfa=r7+0 r16=u signal");
    }

    @Test
    void sectionsThatAreWrong() throws Exception {
        byte[] good = section(2, 1, function2(0x1200 - ADDRESS, 0), ROWS, 3);
        byte[] version = good.clone();
        version[2] = 9;
        assertThat(table(version).notes()).anyMatch(note -> note.contains("SFrame version 9"));
        byte[] many = good.clone();
        many[11] = 0x7f; // more functions than there is room for
        assertThat(table(many).functions()).isZero();
        byte[] far = good.clone();
        far[HEADER_BYTES + 10] = 0x7f; // rows beyond the end
        assertThat(table(far).find(0x1200)).isNull();
    }
}
