package sonde.binary.elf;

/**
 * A program header (gABI chapter 5, "Program Header").
 *
 * @param type PT_*
 * @param flags PF_X 1, PF_W 2, PF_R 4
 * @param offset of its bytes in the file
 * @param address of its first byte as stated in the ELF
 * @param physicalAddress p_paddr; where firmware and kernels are loaded, else equal or 0
 * @param fileBytes size in the file
 * @param memoryBytes size in memory, at least the size in the file
 * @param alignment in bytes
 */
public record ElfSegment(
        int type,
        int flags,
        long offset,
        long address,
        long physicalAddress,
        long fileBytes,
        long memoryBytes,
        long alignment) {

    /** Whether it is loaded and may be executed. */
    public boolean isCode() {
        return type == ElfFile.PT_LOAD && (flags & ElfFile.PF_X) != 0;
    }
}
