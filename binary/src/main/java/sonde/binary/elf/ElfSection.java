package sonde.binary.elf;

/**
 * A section header (gABI chapter 4, "Section Header Table").
 *
 * @param index position in the table
 * @param name from the section name table; empty when that table is missing or the offset is wrong
 * @param type SHT_*
 * @param flags SHF_*
 * @param address of its first byte as stated in the ELF, 0 when it is not loaded
 * @param offset of its bytes in the file
 * @param sizeBytes size, in memory for SHT_NOBITS
 * @param link index of a related section, by type
 * @param info extra number, by type
 * @param alignment that it asks for, sh_addralign; 0 and 1 for none
 * @param entryBytes size of one entry of a table, else 0
 */
public record ElfSection(
        int index,
        String name,
        int type,
        long flags,
        long address,
        long offset,
        long sizeBytes,
        int link,
        int info,
        long alignment,
        long entryBytes) {

    /** Whether it holds machine code. */
    public boolean isExecutable() {
        return (flags & ElfFile.SHF_EXECINSTR) != 0;
    }

    /** Whether it is a table of relocations that name symbols. */
    public boolean isRelocations() {
        return type == ElfFile.SHT_REL || type == ElfFile.SHT_RELA || type == ElfFile.SHT_CREL;
    }

    /** Whether the address lies in it. */
    public boolean contains(long elfAddress) {
        return Long.compareUnsigned(elfAddress - address, sizeBytes) < 0;
    }

    /** The same section with an address. */
    ElfSection at(long elfAddress) {
        return new ElfSection(
                index,
                name,
                type,
                flags,
                elfAddress,
                offset,
                sizeBytes,
                link,
                info,
                alignment,
                entryBytes);
    }
}
