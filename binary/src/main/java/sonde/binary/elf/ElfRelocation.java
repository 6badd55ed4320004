package sonde.binary.elf;

/**
 * An entry of a relocation table (gABI chapter 4, "Relocation").
 *
 * @param offset in the section that the table is for
 * @param type R_* of the machine
 * @param symbol index into the symbol table that the section's link names
 * @param addend of SHT_RELA; 0 for SHT_REL, whose addend stands where the relocation applies
 */
public record ElfRelocation(long offset, int type, int symbol, long addend) {}
