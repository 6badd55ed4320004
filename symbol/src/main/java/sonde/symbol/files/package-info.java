/**
 * Where the file lies that has a binary's symbols or debugging information: in folders of the user,
 * under {@code /usr/lib/debug} by build-id, beside the binary by its debug link, on a debuginfod
 * server when the user named one. What does not fit is refused, and every place that was looked at
 * is part of the answer.
 *
 * {@snippet :
 * DebugSearch search = new DebugSearch(SearchFolders.here());
 * DebugFile found =
 *         search.debugFile(FilePlace.named("/usr/bin/true"), RequiredContent.DEBUG_INFORMATION);
 * try (OpenElf file = found.open()) {
 *     show(found.kind(), file.elf().sections());
 * }
 * found.refusals().forEach(attempt -> show(attempt.sentence()));
 * }
 */
package sonde.symbol.files;
