/**
 * Reads the Executable and Linkable Format by the gABI (System V Application Binary Interface,
 * edition 4.1 with the 2023 draft of chapters 4 and 5): both classes, both byte orders, any
 * machine.
 *
 * {@snippet :
 * ElfFile elf = ElfFile.of(bytes);
 * elf.buildId().ifPresent(id -> show(HexFormat.of().formatHex(id)));
 * ElfSymbols symbols = elf.symbols(ElfFile.SHT_SYMTAB).orElseThrow();
 * for (int i = 0; i < symbols.count(); i++) {
 *     show(symbols.value(i), symbols.name(i));
 * }
 * }
 *
 * <p>Nothing is believed that the bytes do not bear out: a table that does not lie inside the file
 * is a {@link sonde.binary.MalformedInputException} when it is asked for, and only then, so a file
 * with one broken section still gives the others.
 */
package sonde.binary.elf;
