package sonde.binary.unwind;

import static org.assertj.core.api.Assertions.assertThat;
import static sonde.binary.unwind.CfiBytes.ADDRESS;
import static sonde.binary.unwind.CfiBytes.bytes;
import static sonde.binary.unwind.CfiBytes.cie;
import static sonde.binary.unwind.CfiBytes.elf;
import static sonde.binary.unwind.CfiBytes.entry;
import static sonde.binary.unwind.CfiBytes.fde;
import static sonde.binary.unwind.CfiBytes.join;
import static sonde.binary.unwind.CfiBytes.relative;
import static sonde.binary.unwind.CfiBytes.usual;
import static sonde.binary.unwind.CfiBytes.x86Start;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import sonde.binary.elf.ElfFile;
import sonde.testkit.Bytes;
import sonde.testkit.ElfWriter;

/** Call frame information, each case with its rule. */
final class UnwindTableTest {
    private static UnwindTable table(String section, byte[] content) throws Exception {
        return UnwindTable.of(ElfFile.of(elf(section, content))).orElseThrow();
    }

    private static String rule(byte[] ehFrame, long address) throws Exception {
        return String.valueOf(table(".eh_frame", ehFrame).find(address));
    }

    @Test
    void rowsOfAnUsualFunction() throws Exception {
        byte[] section =
                usual(
                        bytes(
                                0x41, // advance 1
                                0x0e, 16, // def_cfa_offset 16
                                0x86, 2, // offset rbp, -16
                                0x43, // advance 3
                                0x0d, 6, // def_cfa_register rbp
                                0x0a, // remember
                                0x50, // advance 16
                                0xc6, // restore rbp
                                0x0c, 7, 8, // def_cfa rsp, 8
                                0x41, 0x0b)); // advance 1, restore state
        assertThat(rule(section, 0x1200)).isEqualTo("cfa=r7+8 r16=[cfa-8]");
        assertThat(rule(section, 0x1201)).isEqualTo("cfa=r7+16 r6=[cfa-16] r16=[cfa-8]");
        assertThat(rule(section, 0x1203)).isEqualTo("cfa=r7+16 r6=[cfa-16] r16=[cfa-8]");
        assertThat(rule(section, 0x1204)).isEqualTo("cfa=r6+16 r6=[cfa-16] r16=[cfa-8]");
        assertThat(rule(section, 0x1214)).isEqualTo("cfa=r7+8 r16=[cfa-8]");
        assertThat(rule(section, 0x1215)).isEqualTo("cfa=r6+16 r6=[cfa-16] r16=[cfa-8]");
        assertThat(rule(section, 0x12ff)).isEqualTo("cfa=r6+16 r6=[cfa-16] r16=[cfa-8]");
        assertThat(rule(section, 0x11ff)).isEqualTo("null");
        assertThat(rule(section, 0x1300)).isEqualTo("null");
    }

    @Test
    void allSectionsTogetherAreBounded() throws Exception {
        byte[] section = usual(x86Start());
        byte[] file =
                new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 0x400)
                        .section(".eh_frame", 1, 2, ADDRESS, section)
                        .section(".eh_frame", 1, 2, ADDRESS, section)
                        .bytes();
        ElfFile elf = ElfFile.of(file);
        assertThat(UnwindTable.of(elf, 2L * section.length).orElseThrow().functions()).isEqualTo(2);
        UnwindTable bounded = UnwindTable.of(elf, 2L * section.length - 1).orElseThrow();
        assertThat(bounded.functions()).isEqualTo(1);
        assertThat(bounded.notes()).singleElement().asString().contains(".eh_frame");
    }

    @Test
    void everyInstruction() throws Exception {
        byte[] section =
                usual(
                        bytes(
                                0x02, 1, // advance_loc1
                                0x05, 3, 2, // offset_extended rbx, -16
                                0x03, 1, 0, // advance_loc2
                                0x11, 12, 0x7f, // offset_extended_sf r12, -1: +8
                                0x04, 1, 0, 0, 0, // advance_loc4
                                0x07, 13, // undefined r13
                                0x08, 14, // same_value r14
                                0x09, 15, 3, // register r15 in rbx
                                0x41, 0x14, 6, 4, // val_offset rbp, CFA - 32
                                0x15, 3, 0x7e, // val_offset_sf rbx, CFA + 16
                                0x41, 0x12, 6, 0x7d, // def_cfa_sf rbp, 24
                                0x41, 0x13, 0x7c, // def_cfa_offset_sf 32
                                0x41, 0x2e, 8, // GNU_args_size
                                0x2f, 12, 3, // GNU_negative_offset_extended r12: +24
                                0x41, 0x06, 12, // restore_extended
                                0x41, 0x10, 3, 2, 0x70, 0, // expression rbx: breg0
                                0x16, 6, 1, 0x30, // val_expression rbp: lit0
                                0x41, 0x0f, 2, 0x77, 8)); // def_cfa_expression: breg7 + 8
        assertThat(rule(section, 0x1203))
                .isEqualTo("cfa=r7+8 r3=[cfa-16] r12=[cfa+8] r13=u r14=s r15=r3 r16=[cfa-8]");
        assertThat(rule(section, 0x1204)).contains("r3=cfa+16", "r6=cfa-32");
        assertThat(rule(section, 0x1205)).startsWith("cfa=r6+24 ");
        assertThat(rule(section, 0x1206)).startsWith("cfa=r6+32 ");
        assertThat(rule(section, 0x1207)).contains("r12=[cfa+24]");
        assertThat(rule(section, 0x1208)).doesNotContain("r12=");
        assertThat(rule(section, 0x1209)).contains("r3=[expr]", "r6=expr");
        assertThat(rule(section, 0x120a)).startsWith("cfa=expr(2) ");
    }

    @Test
    void encodingsOfAddresses() throws Exception {
        int[] encodings = {0x00, 0x03, 0x04, 0x0b, 0x0c, 0x1b, 0x1c, 0x50};
        for (int encoding : encodings) {
            byte[] cie = cie("zR", bytes(encoding), x86Start());
            long place = ADDRESS + cie.length + 8;
            Bytes pointers = new Bytes(ByteOrder.LITTLE_ENDIAN);
            long base = (encoding & 0x70) == 0x10 ? place : 0;
            boolean wide = encoding == 0 || (encoding & 0xf) == 4 || (encoding & 0xf) == 0xc;
            for (long at = place; encoding == 0x50 && at % 8 != 0; at++) {
                pointers.u8(0);
            }
            boolean eight = wide || encoding == 0x50;
            pointers.word(0x1200 - base, eight ? 8 : 4).word(0x100, eight ? 8 : 4);
            byte[] fde = fde(cie.length, pointers.toBytes(), true, bytes(0x41, 0x0e, 16));
            assertThat(rule(join(cie, fde), 0x1250))
                    .as("encoding %x", encoding)
                    .isEqualTo("cfa=r7+16 r16=[cfa-8]");
        }
    }

    @Test
    void augmentations() throws Exception {
        // P: encoding and pointer of a personality; L: encoding of language data; S: signal
        byte[] data = bytes(0x1b, 1, 2, 3, 4, 0x1b, 0x1b);
        byte[] cie = cie("zPLRS", data, x86Start());
        byte[] fde = fde(cie.length, relative(cie.length, 0x1200, 8), true, bytes(0));
        FrameRule rule = table(".eh_frame", join(cie, fde)).find(0x1200);
        assertThat(rule).isNotNull().extracting(FrameRule::isSignalFrame).isEqualTo(true);
        // a letter that is not known ends what can be read, its length is
        byte[] newer = cie("zR?", bytes(0x1b, 7, 7), x86Start());
        byte[] next = fde(newer.length, relative(newer.length, 0x1200, 8), true, bytes(0));
        assertThat(rule(join(newer, next), 0x1200)).isEqualTo("cfa=r7+8 r16=[cfa-8]");
        byte[] unreadable = cie("x", bytes(), x86Start());
        byte[] lost = fde(unreadable.length, bytes(0, 0, 0, 0), false, bytes(0));
        UnwindTable table = table(".eh_frame", join(unreadable, lost));
        assertThat(table.functions()).isZero();
        assertThat(table.notes()).anyMatch(note -> note.contains("augmentation x"));
    }

    @Test
    void debugFrameOfVersion4AndWideEntries() throws Exception {
        Bytes cie = new Bytes(ByteOrder.LITTLE_ENDIAN);
        cie.u32(0xffffffffL).u8(4).text("").u8(8).u8(0).u8(1).u8(0x78).u8(16).raw(x86Start());
        byte[] first = entry(cie);
        Bytes fde = new Bytes(ByteOrder.LITTLE_ENDIAN);
        fde.u32(0).u64(0x1200).u64(0x40).raw(bytes(0x01)).u64(0x1210).raw(bytes(0x0e, 24));
        byte[] wide =
                new Bytes(ByteOrder.LITTLE_ENDIAN)
                        .u32(0xffffffffL)
                        .u64(32)
                        .u64(0)
                        .u64(0x1300)
                        .u64(0x40)
                        .raw(bytes(0x0e, 32, 0, 0, 0, 0, 0, 0))
                        .toBytes();
        UnwindTable table = table(".debug_frame", join(first, entry(fde), wide));
        assertThat(table.find(0x120f)).hasToString("cfa=r7+8 r16=[cfa-8]");
        assertThat(table.find(0x1210)).hasToString("cfa=r7+24 r16=[cfa-8]");
        assertThat(table.find(0x1300)).hasToString("cfa=r7+32 r16=[cfa-8]");
    }

    @Test
    void stubsWithoutInformation() throws Exception {
        byte[] plt = new byte[32];
        System.arraycopy(bytes(0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25), 0, plt, 0, 8);
        System.arraycopy(bytes(0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9), 0, plt, 16, 12);
        UnwindTable table = table(".plt", plt);
        assertThat(table.find(ADDRESS)).hasToString("cfa=r7+16 r16=[cfa-8]");
        assertThat(table.find(ADDRESS + 6)).hasToString("cfa=r7+24 r16=[cfa-8]");
        assertThat(table.find(ADDRESS + 16)).hasToString("cfa=r7+8 r16=[cfa-8]");
        assertThat(table.find(ADDRESS + 27)).hasToString("cfa=r7+16 r16=[cfa-8]");
    }

    @Test
    void whatIsDamagedHidesOnlyWhatFollows() throws Exception {
        byte[] cie = cie("zR", bytes(0x1b), x86Start());
        byte[] good = fde(cie.length, relative(cie.length, 0x1200, 0x10), true, bytes(0x0e, 16));
        int at = cie.length + good.length;
        byte[] endless = fde(at, relative(at, 0x1220, 0x10), true, bytes(0x41, 0x0e, 40, 0x3f));
        byte[] tooLong = bytes(0xf0, 0xff, 0xff, 0x7f, 1, 2, 3, 4);
        UnwindTable table = table(".eh_frame", join(cie, good, endless, tooLong));
        assertThat(table.functions()).isEqualTo(2);
        assertThat(table.find(0x1200)).hasToString("cfa=r7+16 r16=[cfa-8]");
        // the row before the instruction that is none stays, that behind it does not come
        assertThat(table.find(0x1220)).hasToString("cfa=r7+8 r16=[cfa-8]");
        assertThat(table.notes())
                .anyMatch(note -> note.contains("call frame instruction 63"))
                .anyMatch(note -> note.contains("an entry of"));
    }

    @Test
    void entriesThatNameEachOther() throws Exception {
        byte[] cie = cie("zR", bytes(0x1b), x86Start());
        byte[] usual = fde(cie.length, relative(cie.length, 0x1200, 0x10), true, bytes(0));
        int at = cie.length + usual.length;
        // an FDE whose CIE is the FDE before it
        Bytes bad = new Bytes(ByteOrder.LITTLE_ENDIAN).u32(at + 4 - cie.length);
        byte[] section = join(cie, usual, entry(bad.raw(new byte[16])));
        UnwindTable table = table(".eh_frame", section);
        assertThat(table.functions()).isEqualTo(1);
        assertThat(table.notes()).anyMatch(note -> note.contains("without a valid CIE"));
    }

    @Test
    void fileWithoutSections() throws Exception {
        byte[] file = new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 0x800).bytes();
        byte[] cie = cie("zR", bytes(0x1b), x86Start());
        // .eh_frame at 0x1400, its header at 0x1600: both in the only segment, at 0x1000
        Bytes pointers = new Bytes(ByteOrder.LITTLE_ENDIAN);
        pointers.u32(0x1200 - (0x1400 + cie.length + 8)).u32(0x20);
        byte[] fde = fde(cie.length, pointers.toBytes(), true, bytes(0x0e, 16));
        byte[] section = join(cie, fde, bytes(0, 0, 0, 0, 0xff, 0xff));
        System.arraycopy(section, 0, file, 0x400, section.length);
        byte[] header =
                new Bytes(ByteOrder.LITTLE_ENDIAN)
                        .raw(bytes(1, 0x1b, 0xff, 0xff))
                        .u32(0x1400 - 0x1604)
                        .toBytes();
        System.arraycopy(header, 0, file, 0x600, header.length);
        // no section table; a second program header behind the first
        ByteBuffer out = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(40, 0).putShort(60, (short) 0).putShort(62, (short) 0).putShort(56, (short) 2);
        out.position(64 + 56);
        out.putInt(0x6474e550).putInt(4).putLong(0x600).putLong(0x1600).putLong(0x1600);
        out.putLong(16).putLong(16).putLong(4);
        UnwindTable table = UnwindTable.of(ElfFile.of(file)).orElseThrow();
        assertThat(table.find(0x1210)).hasToString("cfa=r7+16 r16=[cfa-8]");
    }

    @Test
    void machinesWithoutRules() throws Exception {
        byte[] file = elf(".eh_frame", usual(bytes(0)));
        file[18] = (byte) 247; // EM_BPF
        assertThat(UnwindTable.of(ElfFile.of(file))).isEmpty();
    }

    /** The instructions of Go 1.19's run time that matter, with others between. */
    @Test
    void stacksOfGoPrograms() throws Exception {
        byte[] systemstack =
                bytes(
                        0x48, 0x8b, 0x7c, 0x24, 0x08, // mov 8(%rsp), %rdi
                        0x48, 0x89, 0xdc, // mov %rbx, %rsp
                        0xff, 0xd7, // call *%rdi
                        0x48, 0x8b, 0x60, 0x38, // mov 0x38(%rax), %rsp
                        0xc3);
        byte[] now =
                bytes(
                        0x49, 0x89, 0xe4, // mov %rsp, %r12
                        0x48, 0x8b, 0x62, 0x38, // mov 0x38(%rdx), %rsp
                        0xff, 0xd0, // call *%rax
                        0x4c, 0x89, 0xe4, // mov %r12, %rsp
                        0xc3);
        byte[] program =
                new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 0x400)
                        .section(".eh_frame", 1, 2, ADDRESS, usual(bytes(0)))
                        .section(".note.go.buildid", 7, 2, bytes())
                        .symbol("runtime.systemstack.abi0", 0x1200, systemstack.length, 2)
                        .symbol("time.now", 0x1240, now.length, 2)
                        .symbol("runtime.goexit.abi0", 0x1280, 8, 2)
                        .symbol("runtime.sigreturn.abi0", 0x1290, 8, 2)
                        .symbol("runtime.mcall", 0x4_0000_0000L, 1 << 20, 2)
                        .symbol("runtime.morestack", 0x15fe, 1 << 20, 2)
                        .bytes();
        System.arraycopy(systemstack, 0, program, ElfWriter.TEXT_OFFSET, systemstack.length);
        System.arraycopy(now, 0, program, ElfWriter.TEXT_OFFSET + 0x40, now.length);
        UnwindTable table = UnwindTable.of(ElfFile.of(program)).orElseThrow();
        String usual = "cfa=r7+8 r16=[cfa-8]";
        assertThat(table.find(0x1207)).as("before the switch").hasToString(usual);
        assertThat(table.find(0x1209)).hasToString("cfa=r-1+0 r16=u other stack");
        assertThat(table.find(0x120e)).as("switched back").hasToString(usual);
        assertThat(table.find(0x1242)).hasToString(usual);
        assertThat(table.find(0x1248)).hasToString("cfa=r12+8 r16=[cfa-8] other stack");
        assertThat(table.find(0x124c)).hasToString(usual);
        assertThat(table.find(0x1280)).hasToString("cfa=r7+0 r16=u");
        assertThat(table.find(0x1290)).as("its code tells").isNull();
    }
}
