/**
 * What is in an ELF file, for {@code sonde elf}: one page for each question, as text in the form of
 * {@code readelf -W} where that tool answers it, and as JSON.
 *
 * {@snippet :
 * try (OpenElf file = OpenElf.asIs(Place.named("/usr/bin/true"))) {
 *     new SegmentsPage(file.elf()).text(out);
 * }
 * }
 */
package sonde.tools.elf;
