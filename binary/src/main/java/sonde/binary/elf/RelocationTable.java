package sonde.binary.elf;

import java.lang.foreign.MemorySegment;
import sonde.binary.MalformedInputException;

/**
 * The entries of a relocation table, SHT_REL or SHT_RELA, of either class (gABI chapter 4,
 * "Relocation"), read where they lie: tables of kernels have millions. Those of SHT_CREL are made
 * entries of SHT_RELA first.
 */
public final class RelocationTable {
    private final ElfBytes elf;
    private final MemorySegment bytes;
    private final boolean addends;
    private final boolean mips64;
    private final int entryBytes;
    private final long count;

    RelocationTable(ElfBytes elf, int machine, ElfSection table, MemorySegment stored)
            throws MalformedInputException {
        this.elf = elf;
        boolean compact = table.type() == ElfFile.SHT_CREL;
        bytes = compact ? CompactRelocations.expand(elf, machine, table, stored) : stored;
        addends =
                compact ? CompactRelocations.haveAddends(stored) : table.type() == ElfFile.SHT_RELA;
        mips64 = machine == ElfFile.EM_MIPS && elf.wide;
        entryBytes = (elf.wide ? 8 : 4) * (addends ? 3 : 2);
        if (!table.isRelocations()
                || !compact && table.entryBytes() != 0 && table.entryBytes() != entryBytes) {
            throw new MalformedInputException(
                    "ELF", table.name() + " sh_entsize", table.offset(), "" + table.entryBytes());
        }
        count = bytes.byteSize() / entryBytes;
    }

    /** Number of entries. */
    public long count() {
        return count;
    }

    /** Whether entries have an addend of their own; else it stands where they apply. */
    public boolean hasAddends() {
        return addends;
    }

    /** Where it applies: an offset in the section (ET_REL) or an address as stated in the ELF. */
    public long offset(long index) {
        return elf.address(bytes, index * entryBytes);
    }

    /** r_info as it stands there; of 64-bit MIPS as in the other byte order, symbol first. */
    public long info(long index) {
        if (mips64) {
            long special = mips(index * entryBytes + 12);
            return (long) symbol(index) << 32 | special << 24 | type(index);
        }
        return elf.address(bytes, index * entryBytes + (elf.wide ? 8 : 4));
    }

    /**
     * R_* of the machine. On 64-bit MIPS, whose entries have up to three: the first in bits 0 to 7,
     * the second above it, the third above that.
     */
    public int type(long index) {
        if (mips64) {
            long at = index * entryBytes + 8;
            return (int) mips(at + 7) | (int) mips(at + 6) << 8 | (int) mips(at + 5) << 16;
        }
        long info = info(index);
        return elf.wide ? (int) info : (int) info & 0xff;
    }

    /** Index into the symbol table that the section's link names. */
    public int symbol(long index) {
        if (mips64) {
            return (int) elf.u32(bytes, index * entryBytes + 8);
        }
        long info = info(index);
        return (int) (elf.wide ? info >>> 32 : info >>> 8);
    }

    private long mips(long at) {
        return bytes.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    /** The addend of SHT_RELA and SHT_CREL, else 0. */
    public long addend(long index) {
        if (!addends) {
            return 0;
        }
        long at = index * entryBytes + (elf.wide ? 16 : 8);
        return elf.wide ? bytes.get(elf.xword, at) : bytes.get(elf.word, at);
    }

    /** An entry as a value. */
    public ElfRelocation get(long index) {
        return new ElfRelocation(offset(index), type(index), symbol(index), addend(index));
    }
}
