/**
 * What is in an ELF file, for {@code sonde elf}: one page for each question, a {@link
 * sonde.event.result.Document}. Its lines have the form of {@code readelf -W} where that tool
 * answers the question.
 *
 * {@snippet :
 * try (OpenElf file = OpenElf.asIs(FunctionGroup.named("/usr/bin/true"))) {
 *     new TextRenderer().render(new SegmentsPage(file.elf()).result(), out, TerminalStyle.PLAIN);
 * }
 * }
 */
package sonde.tools.elf;
