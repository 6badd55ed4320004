package sonde.binary.elf;

/**
 * The file header (gABI chapter 4, "ELF Header"), numbers as they stand in it.
 *
 * @param identVersion EI_VERSION, 1
 * @param osAbi EI_OSABI: 0 System V, 3 GNU, 97 ARM, …
 * @param abiVersion EI_ABIVERSION
 * @param type ET_*
 * @param machine EM_*
 * @param version e_version, 1
 * @param entry address where the program starts, as stated in the ELF
 * @param segmentOffset e_phoff
 * @param sectionOffset e_shoff
 * @param flags e_flags, by machine
 * @param headerBytes e_ehsize
 * @param segmentBytes e_phentsize
 * @param segmentCount e_phnum; 0xffff when the number stands in section 0
 * @param sectionBytes e_shentsize
 * @param sectionCount e_shnum; 0 when the number stands in section 0
 * @param nameSection e_shstrndx; 0xffff when the index stands in section 0
 */
public record ElfHeader(
        int identVersion,
        int osAbi,
        int abiVersion,
        int type,
        int machine,
        long version,
        long entry,
        long segmentOffset,
        long sectionOffset,
        int flags,
        int headerBytes,
        int segmentBytes,
        int segmentCount,
        int sectionBytes,
        int sectionCount,
        int nameSection) {

    static ElfHeader read(ElfBytes bytes) {
        int word = bytes.wide ? 8 : 4;
        int after = 24 + 3 * word;
        return new ElfHeader(
                bytes.u8(6),
                bytes.u8(7),
                bytes.u8(8),
                bytes.u16(16),
                bytes.u16(18),
                bytes.u32(20),
                bytes.address(24),
                bytes.address(24 + word),
                bytes.address(24 + 2L * word),
                (int) bytes.u32(after),
                bytes.u16(after + 4),
                bytes.u16(after + 6),
                bytes.u16(after + 8),
                bytes.u16(after + 10),
                bytes.u16(after + 12),
                bytes.u16(after + 14));
    }
}
