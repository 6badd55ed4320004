/**
 * DWARF of executables: where lines of source are in code.
 *
 * {@snippet :
 * ElfFile elf = ElfFile.of(file);
 * SourceLines.Answer answer = SourceLines.find(elf, "readline.c", 362, 0);
 * answer.address().ifPresent(address -> probe(address));
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.format.dwarf;
