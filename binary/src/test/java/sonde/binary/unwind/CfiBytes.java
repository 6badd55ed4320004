package sonde.binary.unwind;

import java.nio.ByteOrder;
import sonde.testkit.Bytes;
import sonde.testkit.ElfWriter;

/** Sections of call frame information, field by field (LSB Core 5.0, 10.6; DWARF 5, 6.4.1). */
final class CfiBytes {
    /** Where the sections of {@link #elf} say that they lie. */
    static final long ADDRESS = 0x40_0000;

    private CfiBytes() {}

    /** Instructions or other bytes. */
    static byte[] bytes(int... values) {
        byte[] out = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            out[i] = (byte) values[i];
        }
        return out;
    }

    static byte[] join(byte[]... parts) {
        Bytes out = new Bytes(ByteOrder.LITTLE_ENDIAN);
        for (byte[] part : parts) {
            out.raw(part);
        }
        return out.toBytes();
    }

    /** An entry: its length, then what follows, filled up with DW_CFA_nop. */
    static byte[] entry(Bytes body) {
        byte[] padded = body.align(4).toBytes();
        return new Bytes(ByteOrder.LITTLE_ENDIAN).u32(padded.length).raw(padded).toBytes();
    }

    /** What every x86-64 CIE begins with: CFA is rsp + 8, the return address at CFA - 8. */
    static byte[] x86Start() {
        return bytes(0x0c, 7, 8, 0x90, 1);
    }

    /** A CIE of .eh_frame, version 1, code factor 1, data factor -8. */
    static byte[] cie(String augmentation, byte[] data, byte[] instructions) {
        Bytes out = new Bytes(ByteOrder.LITTLE_ENDIAN);
        out.u32(0).u8(1).text(augmentation).u8(1).u8(0x78).u8(16);
        if (augmentation.startsWith("z")) {
            out.u8(data.length).raw(data);
        }
        return entry(out.raw(instructions));
    }

    /**
     * An FDE of .eh_frame whose CIE is the first entry of the section.
     *
     * @param at where it will lie
     * @param pointers start and size as the CIE's encoding wants them
     */
    static byte[] fde(long at, byte[] pointers, boolean augmented, byte[] instructions) {
        Bytes out = new Bytes(ByteOrder.LITTLE_ENDIAN).u32(at + 4).raw(pointers);
        if (augmented) {
            out.u8(0);
        }
        return entry(out.raw(instructions));
    }

    /** Start and size as DW_EH_PE_pcrel | sdata4, the usual encoding, of an FDE at {@code at}. */
    static byte[] relative(long at, long start, long size) {
        return new Bytes(ByteOrder.LITTLE_ENDIAN)
                .u32(start - (ADDRESS + at + 8))
                .u32(size)
                .toBytes();
    }

    /** One CIE "zR" with pcrel sdata4 and one function at 0x1200 of 0x100 bytes. */
    static byte[] usual(byte[] instructions) {
        byte[] cie = cie("zR", bytes(0x1b), x86Start());
        byte[] fde = fde(cie.length, relative(cie.length, 0x1200, 0x100), true, instructions);
        return join(cie, fde, bytes(0, 0, 0, 0));
    }

    /** A file with that section. */
    static byte[] elf(String section, byte[] content) {
        return new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 0x400)
                .section(section, 1, 2, ADDRESS, content)
                .bytes();
    }
}
