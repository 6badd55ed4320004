package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import sonde.binary.MalformedInputException;

/**
 * Entries of SHT_CREL as those of SHT_RELA or SHT_REL: each is what differs from the one before
 * (generic ABI proposal "CREL", as LLVM writes it). ULEB128 count × 8 + 4 (there are addends) + the
 * shift of offsets; then for each entry a byte of two or three flags and the low bits of the
 * offset's difference, its high bits as ULEB128, and as SLEB128 what the flags name of symbol, type
 * and addend.
 */
final class CompactRelocations {
    private static final int ADDENDS = 4;
    private static final long LIMIT = 1 << 24;

    private final MemorySegment packed;
    private final ElfSection table;
    private long position;

    private CompactRelocations(ElfSection table, MemorySegment packed) {
        this.table = table;
        this.packed = packed;
    }

    /** Whether its entries have addends, and are expanded to those of SHT_RELA. */
    static boolean haveAddends(MemorySegment packed) {
        return packed.byteSize() > 0 && (packed.get(ValueLayout.JAVA_BYTE, 0) & ADDENDS) != 0;
    }

    /**
     * The entries as SHT_RELA or SHT_REL of the file's class has them.
     *
     * @throws MalformedInputException when they do not fit into the table, or are more than 16
     *     million
     */
    static MemorySegment expand(ElfBytes elf, int machine, ElfSection table, MemorySegment packed)
            throws MalformedInputException {
        return new CompactRelocations(table, packed).entries(elf, machine);
    }

    private MemorySegment entries(ElfBytes elf, int machine) throws MalformedInputException {
        long head = leb(false);
        long count = head >>> 3;
        // Each takes a byte at the least.
        if (count > packed.byteSize() - position || count > LIMIT) {
            throw malformed(Long.toUnsignedString(count) + " entries");
        }
        int flagBits = haveAddends(packed) ? 3 : 2;
        int shift = (int) head & 3;
        int word = elf.wide ? 8 : 4;
        MemorySegment out =
                MemorySegment.ofArray(new byte[Math.toIntExact(count * word * flagBits)]);
        long offset = 0;
        long symbol = 0;
        long type = 0;
        long addend = 0;
        for (long i = 0; i < count; i++) {
            int first = u8();
            offset += (first & 0x7f) >> flagBits;
            if (first >= 0x80) {
                offset += leb(false) << 7 - flagBits;
            }
            symbol += (first & 1) != 0 ? leb(true) : 0;
            type += (first & 2) != 0 ? leb(true) : 0;
            long at = i * word * flagBits;
            put(elf, out, at, offset << shift);
            put(elf, out, at + word, info(elf, machine, (int) symbol, (int) type));
            if (flagBits == 3) {
                addend += (first & 4) != 0 ? leb(true) : 0;
                put(elf, out, at + 2L * word, addend);
            }
        }
        return out.asReadOnly();
    }

    /** r_info of the class; 64-bit MIPS has the symbol first and three types in order of bytes. */
    private static long info(ElfBytes elf, int machine, int symbol, int type) {
        if (!elf.wide) {
            return (long) symbol << 8 | type & 0xff;
        }
        boolean little = elf.order == java.nio.ByteOrder.LITTLE_ENDIAN;
        if (machine == ElfFile.EM_MIPS && little) {
            return Integer.toUnsignedLong(symbol) | (long) Integer.reverseBytes(type) << 32;
        }
        return (long) symbol << 32 | Integer.toUnsignedLong(type);
    }

    private static void put(ElfBytes elf, MemorySegment out, long at, long value) {
        if (elf.wide) {
            out.set(elf.xword, at, value);
        } else {
            out.set(elf.word, at, (int) value);
        }
    }

    private int u8() throws MalformedInputException {
        if (position >= packed.byteSize()) {
            throw malformed("no more bytes");
        }
        return packed.get(ValueLayout.JAVA_BYTE, position++) & 0xff;
    }

    private long leb(boolean signed) throws MalformedInputException {
        long value = 0;
        int bits = 0;
        int next;
        do {
            next = u8();
            value |= bits < Long.SIZE ? (long) (next & 0x7f) << bits : 0;
            bits += 7;
        } while (next >= 0x80);
        return signed && bits < Long.SIZE && (next & 0x40) != 0 ? value | -1L << bits : value;
    }

    private MalformedInputException malformed(String found) {
        return new MalformedInputException(
                "ELF", table.name() + " SHT_CREL", table.offset() + position, found);
    }
}
